package lease_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/store"
)

// TestShadowLeased: a shadow that a lease holds is charged only if the store allows
// what is no shadow.
func TestShadowLeased(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		log := compile(t, few)
		m.warm()
		for i := range 100 {
			got := m.take(store.Spend,
				store.Check{Key: "k", Spec: log, Cost: 1}, store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1, Shadow: true})
			if got[0].Verdict.Allowed != (i < 30) || !got[1].Verdict.Allowed {
				t.Fatalf("request %d: %+v, its shadow %+v", i, got[0].Verdict, got[1].Verdict)
			}
		}
		m.fleet.close()
		if left := m.left(); left != 10_000-20-30 {
			t.Errorf("%d left, want %d", left, 10_000-20-30)
		}
	})
}

// TestShadowBesideALease: a shadow that the store denies leaves the lease's tokens
// spent.
func TestShadowBesideALease(t *testing.T) {
	in(t, hourly, func(t *testing.T, m *member) {
		log := compile(t, few)
		m.warm()
		for i := range 100 {
			got := m.take(store.Spend,
				store.Check{Key: "k", Spec: m.fleet.spec, Cost: 1}, store.Check{Key: "k", Spec: log, Cost: 1, Shadow: true})
			if !got[0].Verdict.Allowed || got[1].Verdict.Allowed != (i < 30) {
				t.Fatalf("request %d: %+v, its shadow %+v", i, got[0].Verdict, got[1].Verdict)
			}
		}
		m.fleet.close()
		if left := m.left(); left != 10_000-20-100 {
			t.Errorf("%d left, want %d", left, 10_000-20-100)
		}
	})
}
