package storetest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// broken is a store around the model with one fault in it.
type broken struct {
	model store.Store
	take  func(b *broken, op store.Op, checks []store.Check) error
	calls int

	booked map[string]int64 // estimates by ID
}

func (b *broken) Take(_ context.Context, op store.Op, checks []store.Check) error {
	b.calls++
	return b.take(b, op, checks)
}

func (b *broken) good(op store.Op, checks []store.Check) error {
	return b.model.Take(context.Background(), op, checks)
}

// fault is a store that is wrong, and the part that must find it.
type fault struct {
	name string
	part string
	take func(b *broken, op store.Op, checks []store.Check) error
}

// faults are stores that anybody might write, each with the part of the suite that
// must find it; the comparison with the model must find all.
var faults = []fault{
	{"spends on denial", "several checks", func(b *broken, op store.Op, checks []store.Check) error {
		err := b.good(op, checks)
		for i, c := range checks {
			if op == store.Spend && err == nil && !allAllowed(checks) && c.Verdict.Allowed && c.Cost > 0 {
				err = b.good(op, append([]store.Check(nil), checks[i]))
			}
		}
		return err
	}},
	{"loses refunds", "refund and reset", func(b *broken, op store.Op, checks []store.Check) error {
		if op == store.Refund {
			return nil
		}
		return b.good(op, checks)
	}},
	{"swallows the last check", "several checks", func(b *broken, op store.Op, checks []store.Check) error {
		if n := len(checks); n > 1 {
			checks[n-1].Verdict = checks[0].Verdict
			checks[n-1].Verdict.Allowed = true
			checks = checks[:n-1]
		}
		return b.good(op, checks)
	}},
	{"forgets keys", "definition", func(b *broken, op store.Op, checks []store.Check) error {
		if b.calls%20 == 0 && len(checks) > 0 {
			if err := b.good(store.Reset, append([]store.Check(nil), checks[0])); err != nil {
				return err
			}
		}
		return b.good(op, checks)
	}},
	{"ignores resets", "refund and reset", func(b *broken, op store.Op, checks []store.Check) error {
		if op == store.Reset {
			return nil
		}
		return b.good(op, checks)
	}},
	{"takes a repeated reservation for a new one", "reservation", func(b *broken, op store.Op, checks []store.Check) error {
		if op == store.Reserve {
			if err := b.good(store.Commit, append([]store.Check(nil), checks...)); err != nil {
				return err
			}
		}
		return b.good(op, checks)
	}},
	{"never lets a reservation expire", "reservation expires", func(b *broken, op store.Op, checks []store.Check) error {
		for i := range checks {
			if op == store.Reserve && checks[i].Hold > 0 && checks[i].Hold <= store.MaxHold {
				checks[i].Hold = store.MaxHold
			}
		}
		return b.good(op, checks)
	}},
	{"gives back nothing at commit", "reservation", func(b *broken, op store.Op, checks []store.Check) error {
		if op == store.Commit {
			for i := range checks {
				checks[i].Verdict.Allowed = true
			}
			return nil
		}
		return b.good(op, checks)
	}},
	{"gives back at commit whatever is newest", "really used", refundsAtCommit},
	{"cuts the wait short", "definition", func(b *broken, op store.Op, checks []store.Check) error {
		err := b.good(op, checks)
		for i := range checks {
			checks[i].Verdict.Wait /= 2
		}
		return err
	}},
	{"answers a denial with a round RetryAfter", "definition", func(b *broken, op store.Op, checks []store.Check) error {
		err := b.good(op, checks)
		for i := range checks {
			if v := &checks[i].Verdict; !v.Allowed && !v.Never {
				v.Y, v.Z = v.Y/1000*1000, v.Z/1000*1000
			}
		}
		return err
	}},
	{"cancels bookings out of order", "spend cancelled", func(b *broken, op store.Op, checks []store.Check) error {
		if op == store.Cancel {
			return b.good(store.Refund, checks)
		}
		return b.good(op, checks)
	}},
	{"shares one state among all keys", "first request", func(b *broken, op store.Op, checks []store.Check) error {
		mapped := append([]store.Check(nil), checks...)
		for i := range mapped {
			if len(mapped[i].Key) > 0 {
				mapped[i].Key = "one"
			}
		}
		err := b.good(op, mapped)
		for i := range mapped {
			mapped[i].Key = checks[i].Key
		}
		copy(checks, mapped)
		return err
	}},
	{"lets a shadow deny others", "shadow checks", shadowsDeny},
	{"charges a shadow though another check was denied", "shadow checks", chargesShadowsAnyway},
	{"does not charge a shadow", "shadow checks", neverChargesShadows},
	{"lets a shadow deny a shadow", "shadow checks", shadowsDenyShadows},
	{"decides shadows before the others", "shadow checks", chargesShadowsFirst},
}

// swallowsFaults lets bad input pass, which the comparison does not send.
func swallowsFaults(b *broken, op store.Op, checks []store.Check) error {
	err := b.good(op, checks)
	if errors.Is(err, store.ErrKey) || errors.Is(err, store.ErrCost) || errors.Is(err, store.ErrID) {
		return nil
	}
	return err
}

func allAllowed(checks []store.Check) bool {
	for _, c := range checks {
		if !c.Verdict.Allowed {
			return false
		}
	}
	return true
}

func openBroken(take func(b *broken, op store.Op, checks []store.Check) error) Open {
	return func(_ testing.TB, now func() time.Time) store.Store {
		return &broken{model: algotest.NewModel(now), take: take, booked: map[string]int64{}}
	}
}

// runPart runs one part on a store and reports the first complaint, if any.
func runPart(t *testing.T, name string, open Open) (complaint string, failed bool) {
	t.Helper()
	for _, p := range parts {
		if p.name == name {
			r := record(t, func(t testing.TB) { p.run(t, newSuite(open, []Option{Steps(4000), Seed(7)})) })
			return r.first, r.failed
		}
	}
	t.Fatalf("there is no part %q", name)
	return "", false
}

// TestBrokenStoresFail proves that the suite is able to fail.
func TestBrokenStoresFail(t *testing.T) {
	for _, f := range faults {
		for _, part := range []string{f.part, "equivalence"} {
			if _, failed := runPart(t, part, openBroken(f.take)); !failed {
				t.Errorf("a store that %s passes %q", f.name, part)
			}
		}
	}
	if _, failed := runPart(t, "faults of the input", openBroken(swallowsFaults)); !failed {
		t.Error("a store that accepts bad input passes")
	}
}

// TestComplaintsTellTheSeed: whoever sees a failure can repeat it.
func TestComplaintsTellTheSeed(t *testing.T) {
	for _, part := range []string{"definition", "equivalence"} {
		complaint, failed := runPart(t, part, openBroken(faults[3].take))
		if want := "seed 7"; !failed || len(complaint) < 100 || complaint[:len(want)] != want {
			t.Errorf("%s complains: %s", part, complaint)
		}
	}
}

// twoSteps looks first and spends afterwards, as if nobody came in between.
type twoSteps struct{ store.Store }

func (s twoSteps) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if op != store.Spend {
		return s.Store.Take(ctx, op, checks)
	}
	look := append([]store.Check(nil), checks...)
	for i := range look {
		look[i].Cost = 0
	}
	if err := s.Store.Take(ctx, op, look); err != nil {
		return err
	}
	runtime.Gosched()
	all := true
	for i, c := range look {
		checks[i].Verdict.Allowed = c.Spec.Remaining(c.Verdict) >= checks[i].Cost
		all = all && checks[i].Verdict.Allowed
	}
	for i := range checks {
		if c := checks[i : i+1 : i+1]; all {
			if err := s.Store.Take(ctx, op, append([]store.Check(nil), c...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestTwoStepsFail: a store that is not atomic admits too much.
func TestTwoStepsFail(t *testing.T) {
	open := func(_ testing.TB, now func() time.Time) store.Store { return twoSteps{algotest.NewModel(now)} }
	if _, failed := runPart(t, "concurrent spend", open); !failed {
		t.Error("a store that takes two steps passes")
	}
}
