package service

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// TestEveryCase runs each case for a moment: what is allowed stays allowed, and every
// entrant gets its line.
func TestEveryCase(t *testing.T) {
	var out, progress strings.Builder
	if err := Run(frame.Config{Rounds: 1, Time: time.Microsecond, Seed: 1}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`case=engine-rules entrant="10000 rules"`, `case=engine-observer entrant="an observer"`,
		`case=http-middleware entrant="sluice ByIP"`, `case=sql-guard entrant="guarded"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}
