package accesslog_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

// TestRealLogs: every line of two real logs is read, in the order of time.
func TestRealLogs(t *testing.T) {
	for _, c := range []struct {
		file string
		want int64
		keys int
	}{{"wordpress-2016.log.gz", 206_860, 8799}, {"semicomplete-2015.log.gz", 10_000, 1753}} {
		log := accesslog.New([]accesslog.Source{accesslog.File("testdata/" + c.file)}, accesslog.Options{})
		var n, last int64
		keys := map[string]bool{}
		for e := range log.Entries(t.Context()) {
			if n++; e.Time < last || !e.Coarse || e.Place >= e.Among {
				t.Fatalf("%s: line %d: %v, %d of %d", c.file, n, e.At(), e.Place, e.Among)
			}
			last = e.Time
			keys[e.IP.String()] = true
		}
		lines := log.Lines()
		if err := log.Err(); err != nil || n != c.want || lines.Total != c.want || lines.Parsed != c.want || lines.Late != 0 || len(keys) != c.keys {
			t.Errorf("%s: %d entries, %d keys, %+v, %v", c.file, n, len(keys), lines, err)
		}
	}
}
