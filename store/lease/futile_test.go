package lease_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestLookingTakesNoLease: beside a limit that admits nothing, a check only looks, and
// nothing is taken ahead for it, however often. Beside such a shadow it is.
func TestLookingTakesNoLease(t *testing.T) {
	for _, shadow := range []bool{false, true} {
		in(t, hourly, func(t *testing.T, m *member) {
			ban := compile(t, algo.Spec{Kind: algo.Ban})
			for range 200 {
				got := m.take(store.Spend,
					store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1}, store.Check{Key: "k", Spec: ban, Cost: 1, Shadow: shadow})
				if !got[0].Verdict.Allowed {
					t.Fatalf("%+v", got[0].Verdict)
				}
				time.Sleep(time.Millisecond)
			}
			// Every request asks the store about the other limit; more calls are for leases.
			if calls := m.far.calls.Load(); (calls > 200) != shadow {
				t.Errorf("shadow %v: %d calls for 200 requests", shadow, calls)
			}
			if left := m.left(); !shadow && left != 10_000 {
				t.Errorf("%d left after 200 looks", left)
			}
		})
	}
}
