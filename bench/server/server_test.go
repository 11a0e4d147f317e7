package server

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// TestMain lets this program be the no-op server.
func TestMain(m *testing.M) {
	if Noop() {
		return
	}
	os.Exit(m.Run())
}

// TestEveryCase runs each case for a moment: everything is answered, and every entrant
// gets its line.
func TestEveryCase(t *testing.T) {
	var out, progress strings.Builder
	if err := Run(frame.Config{Rounds: 1, Time: 100 * time.Millisecond, Seed: 1}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`case=check entrant="no-op handler" rps=`, `case=check entrant="sluice" rps=`, `case=batch entrant="sluice" rps=`,
		`case=redis entrant="sluice, no leases" rps=`, `case=redis entrant="library" rps=`, `case=redis entrant="sluice" over_smaller=`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, " rps=") && !strings.Contains(line, " errors=0 ") {
			t.Error(line)
		}
	}
}
