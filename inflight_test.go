package sluice_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

// TestInFlightIsNoRate: what counts requests in flight is a limit of rules, and nothing of
// which a limiter can be made.
func TestInFlightIsNoRate(t *testing.T) {
	four := sluice.Limit{Algorithm: sluice.InFlight, Count: 4}
	if four.String() != "concurrency 4" {
		t.Errorf("written as %s", four)
	}
	_, parsed := sluice.Parse("concurrency 4")
	_, written := four.MarshalText()
	for name, err := range map[string]error{
		"Parse": parsed, "Validate": four.Validate(), "MarshalText": written,
		"SetLimit": sluice.NewLimiter(sluice.PerSecond(1)).SetLimit(four), "Keyed.SetLimit": sluice.NewKeyed(sluice.PerSecond(1)).SetLimit(sluice.PerSecond(1), four),
	} {
		if !errors.Is(err, sluice.ErrInvalidLimit) || !strings.Contains(err.Error(), "concurrency is no rate") || !strings.Contains(err.Error(), "NewConcurrency") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if plans, err := sluice.NewPlans(time.Time{}, []sluice.Limit{four}); err != nil || plans[0].Books() || plans[0].Specs()[0].Count != 4 {
		t.Errorf("a plan: %v", err)
	}
	for _, bad := range []sluice.Limit{{Algorithm: sluice.InFlight}, {Algorithm: sluice.InFlight, Count: 2e15}, {Algorithm: sluice.InFlight, Count: 1, Period: time.Second}, {Algorithm: sluice.InFlight, Count: 1, Burst: 1}} {
		if _, err := sluice.NewPlans(time.Time{}, []sluice.Limit{bad}); !errors.Is(err, sluice.ErrInvalidLimit) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
