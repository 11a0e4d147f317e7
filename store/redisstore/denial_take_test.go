package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestDenialTake: which operations are answered from memory after a denial, which of
// them end it, and which leave it alone.
func TestDenialTake(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	for _, c := range []struct {
		op           store.Op
		known, stays bool
	}{
		{store.Spend, true, true},
		{store.Lease, true, true},
		{store.Reserve, false, true},
		{store.Acquire, false, true},
		{store.Renew, false, true},
		{store.Release, false, true},
		{store.Commit, false, false},
		{store.Refund, false, false},
		{store.Reset, false, false},
		{store.Cancel, false, false},
		{store.Return, false, false},
	} {
		for _, failure := range []error{nil, errors.New("timeout")} {
			d, now, sent := redisstore.NewDenials(8, time.Second), int64(1000), 0
			take := func(op store.Op) bool {
				checks := []store.Check{{Key: "ann", Spec: spec, Cost: 1, Granted: 1}}
				known, err := redisstore.DenialTake(d, func() int64 { now++; return now }, op, checks, func() error {
					sent++
					if checks[0] = denialFor(spec, "ann", 1, 0); op != store.Spend {
						checks[0].Verdict = algo.Verdict{Allowed: true}
					}
					return failure
				})
				if v := checks[0].Verdict; known && (err != nil || v.Allowed || spec.RetryAfter(v) == 0 || op == store.Lease && checks[0].Granted > 0) {
					t.Errorf("operation %d: %v, %+v", op, err, checks[0])
				}
				if !known && !errors.Is(err, failure) {
					t.Errorf("operation %d: %v, want %v", op, err, failure)
				}
				return known
			}
			redisstore.DenialLearn(d, now, []store.Check{denialFor(spec, "ann", 1, 0)})
			if take(c.op) != c.known || (sent == 0) != c.known {
				t.Errorf("operation %d: from memory %v, want %v", c.op, !c.known, c.known)
			}
			if take(store.Spend) != c.stays {
				t.Errorf("operation %d, then a spend: from memory %v, want %v", c.op, !c.stays, c.stays)
			}
			if !c.stays && failure == nil && !take(store.Spend) {
				t.Errorf("operation %d, then spends: nothing is learned", c.op)
			}
		}
	}
}
