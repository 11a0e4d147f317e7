package replay_test

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// logs are real ones, which stand beside the package that reads them.
var logs = []string{"wordpress-2016", "semicomplete-2015"}

func openLog(name string) *accesslog.Log {
	return accesslog.New([]accesslog.Source{accesslog.File("../accesslog/testdata/" + name + ".log.gz")}, accesslog.Options{})
}

func byIP(t testing.TB, limit sluice.Limit) *rule.Set {
	t.Helper()
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "all", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: limit}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestGolden: what an exact log of each address refuses, counted by another program
// before this one was written. The test of the command has the whole table.
func TestGolden(t *testing.T) {
	type row struct{ perMinute, denied, keysDenied int64 }
	golden := map[string]struct {
		requests, keys int64
		rows           []row
	}{
		"wordpress-2016":    {206_860, 8799, []row{{60, 1758, 35}}},
		"semicomplete-2015": {10_000, 1753, []row{{10, 1729, 79}, {30, 456, 31}, {60, 87, 2}, {120, 0, 0}}},
	}
	for _, name := range logs {
		want := golden[name]
		for _, row := range want.rows {
			t.Run(fmt.Sprintf("%s/%d", name, row.perMinute), func(t *testing.T) {
				log := openLog(name)
				report, err := replay.Run(byIP(t, sluice.PerMinute(row.perMinute).With(sluice.SlidingLog)), log.Entries(t.Context()), replay.Options{Sample: -1})
				if err != nil || log.Err() != nil {
					t.Fatal(err, log.Err())
				}
				r := report.Rules[0]
				if r.Requests != want.requests || r.Keys != want.keys || r.Denied != row.denied || r.KeysDenied != row.keysDenied {
					t.Errorf("%d requests of %d keys, %d denied of %d keys, want %v of %d and %d", r.Requests, r.Keys, r.Denied, r.KeysDenied, row, want.requests, want.keys)
				}
				if name == "wordpress-2016" && row.perMinute == 60 && (r.Suspects.Keys != 15 || r.Suspects.Requests != 580) {
					t.Errorf("%d keys with %d requests may be people, want 15 with 580", r.Suspects.Keys, r.Suspects.Requests)
				}
			})
		}
	}
}
