package lease_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// TestChangedLimit: a smaller limit binds at once, whatever was leased before.
func TestChangedLimit(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		m.warm()
		smaller := hourly
		smaller.Count = 15
		got := m.take(store.Spend, store.Check{Key: "k", Spec: compile(t, smaller), Cost: 1})
		if got[0].Verdict.Allowed {
			t.Error("20 were spent, and 15 is the limit now")
		}
		larger := hourly
		larger.Count = 20_000
		if got := m.take(store.Spend, store.Check{Key: "k", Spec: compile(t, larger), Cost: 1}); !got[0].Verdict.Allowed {
			t.Error("denied by a larger limit")
		}
		same := m.take(store.Spend, store.Check{Key: "k", Spec: compile(t, larger), Cost: 1}) // another pointer, the same limit
		if !same[0].Verdict.Allowed {
			t.Error("denied by the same limit")
		}
	})
}

// TestResetAndRefund: what is refunded can be spent again, here at once, and with
// a window everywhere when the lease has ended.
func TestResetAndRefund(t *testing.T) {
	for _, def := range []algo.Spec{thousands, hourly} {
		in(t, def, func(t *testing.T, m *member) {
			m.warm()
			m.take(store.Reset, store.Check{Key: "k", Spec: m.fleet.spec})
			if left := m.left(); left != 10_000 {
				t.Errorf("after a reset %d are left", left)
			}
			m.warm()
			peek := func() int64 {
				return m.fleet.spec.Remaining(m.take(store.Spend, store.Check{Key: "k", Spec: m.fleet.spec})[0].Verdict)
			}
			before := peek()
			m.take(store.Refund, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 4})
			if left := peek(); left != before+4 {
				t.Errorf("%d left, a refund of 4 makes it %d", before, left)
			}
			time.Sleep(2 * lease.DefaultAge)
			if left := m.left(); left != 10_000-16 && def.Kind == algo.FixedWindow {
				t.Errorf("20 were spent and 4 refunded, %d are left", left)
			}
		})
	}
}

// TestRemaining never promises more than there is.
func TestRemaining(t *testing.T) {
	for _, def := range []algo.Spec{thousands, hourly} {
		for _, opt := range []lease.Option{lease.Share(0.1), lease.FullBurst()} {
			in(t, def, func(t *testing.T, m *member) {
				m.warm()
				got := m.take(store.Spend, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1})[0]
				peek := m.take(store.Spend, store.Check{Key: "k", Spec: m.fleet.spec})[0]
				left := m.fleet.spec.Remaining(got.Verdict)
				if left < 8_000 || left > 10_000-21 && def.Kind == algo.FixedWindow || left > 10_000 || m.fleet.spec.Remaining(peek.Verdict) != left {
					t.Errorf("%s: %d remain after 21, a peek says %d", algotest.Describe(def), left, m.fleet.spec.Remaining(peek.Verdict))
				}
				if got.Now == 0 || m.fleet.spec.ResetAfter(got.Verdict) <= 0 {
					t.Errorf("spent at %d, reset after %d", got.Now, m.fleet.spec.ResetAfter(got.Verdict))
				}
			}, opt)
		}
	}
}

// TestMaxKeys: keys without a place go to the store.
func TestMaxKeys(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		for i := range 400 {
			key := fmt.Sprint(i % 40)
			if got := m.take(store.Spend, store.Check{Key: key, Spec: m.fleet.spec, Cost: 1}); !got[0].Verdict.Allowed {
				t.Fatal("denied")
			}
		}
	}, lease.MaxKeys(8))
}
