package sqllimit

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice"
)

type keyedFlight struct {
	*sluice.KeyedConcurrency
	key string
}

func (keyedFlight) try() permit { return nil }

func (f keyedFlight) acquire(p *patience) (permit, error) {
	if p.none() {
		got, ok, err := f.Allow(p.bounded(), f.key)
		if err == nil && !ok {
			err = sluice.ErrLimited
		}
		if err != nil {
			return nil, err
		}
		return keyedPermit{got}, nil
	}
	got, err := f.Wait(p.bounded(), f.key)
	if err != nil {
		return nil, err
	}
	return keyedPermit{got}, nil
}

// keyedPermit is given back to a store. If that cannot be reached, the permit
// ends by itself.
type keyedPermit struct{ *sluice.KeyedPermit }

func (k keyedPermit) Release() {
	giveBack(func(ctx context.Context) { _ = k.KeyedPermit.Release(ctx) })
}

// lost reports whether others may have the permit now.
func (k keyedPermit) lost() bool {
	select {
	case <-k.Lost():
		return true
	default:
		return false
	}
}

type keyedRate struct {
	*sluice.Keyed
	key string
}

func (keyedRate) try(int64) bool { return false }

func (r keyedRate) take(p *patience, cost int64) error {
	d, err := r.AllowN(p.bounded(), r.key, cost)
	if err == nil && !d.Allowed {
		err = &sluice.LimitedError{Key: r.key, Decision: d}
	}
	return err
}

func (r keyedRate) refund(cost int64) {
	// What the store does not hear of stays spent.
	giveBack(func(ctx context.Context) { _ = r.Refund(ctx, r.key, cost) })
}

func (r keyedRate) most() int64 {
	limits := r.Limits()
	least := most(limits[0])
	for _, l := range limits[1:] {
		least = min(least, most(l))
	}
	return least
}

func (r keyedRate) soonest(cost, lacking int64) (longest time.Duration) {
	for _, l := range r.Limits() {
		longest = max(longest, soonest(l, cost, lacking))
	}
	return longest
}

// How long giving back to a store may take: a statement that is done waits for it a
// moment, so that the next one of its caller finds the permit; a store that is slow
// or silent then hears of it in the background.
const (
	settleTime = time.Second
	settleWait = 50 * time.Millisecond
)

func giveBack(settle func(context.Context)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), settleTime)
		defer cancel()
		settle(ctx)
	}()
	moment := time.NewTimer(settleWait)
	defer moment.Stop()
	select {
	case <-done:
	case <-moment.C:
	}
}
