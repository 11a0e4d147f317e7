//go:build !race

package accesslog_test

import (
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

// TestParseAllocatesNothing: of all formats, for lines without escapes.
func TestParseAllocatesNothing(t *testing.T) {
	for _, c := range lineTests {
		if strings.HasPrefix(c.want, "[") || c.want == "" || strings.ContainsAny(c.line, `\`) || strings.HasPrefix(c.line, `"`) {
			continue
		}
		f, err := accesslog.Lookup(c.format, accesslog.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p := f.Parser()
		var e accesslog.Entry
		if n := testing.AllocsPerRun(100, func() { p.Parse(c.line, &e) }); n > 0 {
			t.Errorf("%s: %v allocations for %s", c.format, n, c.line)
		}
	}
}

// TestLogAllocatesPerBlock: reading a log costs allocations for what is held, not for
// every line.
func TestLogAllocatesPerBlock(t *testing.T) {
	text := plainLog(t, "wordpress-2016")
	lines := float64(strings.Count(text, "\n"))
	n := testing.AllocsPerRun(2, func() {
		log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{Window: 1000})
		for range log.Entries(t.Context()) {
			continue
		}
	})
	if n > lines/8 {
		t.Errorf("%.0f allocations for %.0f lines", n, lines)
	}
}
