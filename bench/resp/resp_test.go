package resp

import (
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// TestEveryCase runs each case for a moment: every entrant gets its line.
func TestEveryCase(t *testing.T) {
	var out, progress strings.Builder
	if err := Run(Config{Config: frame.Config{Rounds: 1, Seed: 1}, Requests: 1000}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	for _, l := range lineups() {
		for _, e := range l.entrants {
			if want := "case=" + l.name + ` entrant="` + e.name + `" rps=`; !strings.Contains(out.String(), want) {
				t.Errorf("%s is missing in\n%s", want, out.String())
			}
		}
	}
}

// TestParseRate reads what redis-benchmark prints.
func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{
		"\"test\",\"rps\",\"avg_latency_ms\"\n\"INCR k\",\"12345.68\",\"0.2\"\n": 12345.68,
		"": -1, "x\n": -1, "\"a\",\"b\"\n": -1,
	} {
		got, err := parseRate(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
