package sqllimit

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice"
)

// flight is a limit of what is in flight.
type flight interface {
	// try returns a permit if one can be had at once in this process, else nil.
	try() permit
	// acquire returns a permit, or an error and nothing.
	acquire(p *patience) (permit, error)
}

// permit is the right to be in flight.
type permit interface{ Release() }

// rate is a limit of how many statements there may be.
type rate interface {
	// try spends cost if that can be done at once in this process.
	try(cost int64) bool
	// take spends cost, or returns an error and spends nothing.
	take(p *patience, cost int64) error
	// refund gives cost back.
	refund(ctx context.Context, cost int64)
}

type localFlight struct{ *sluice.Concurrency }

func (f localFlight) try() permit {
	if got, ok := f.Allow(); ok {
		return got
	}
	return nil
}

func (f localFlight) acquire(p *patience) (permit, error) {
	if p.none() {
		return nil, sluice.ErrLimited
	}
	got, err := f.Wait(p.bounded())
	if err != nil {
		return nil, err
	}
	return got, nil
}

type keyedFlight struct {
	*sluice.KeyedConcurrency
	key string
}

func (keyedFlight) try() permit { return nil }

func (f keyedFlight) acquire(p *patience) (permit, error) {
	if p.none() {
		got, ok, err := f.Allow(p.parent, f.key)
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
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	_ = k.KeyedPermit.Release(ctx)
}

// settleTime is how long giving back may take.
const settleTime = time.Second

type localRate struct{ *sluice.Limiter }

func (r localRate) try(cost int64) bool { return r.Decide(cost).Allowed }

func (r localRate) take(p *patience, cost int64) error {
	if !p.none() {
		return r.WaitN(p.bounded(), int(cost))
	}
	if d := r.Decide(cost); !d.Allowed {
		return &sluice.LimitedError{Decision: d}
	}
	return nil
}

func (r localRate) refund(_ context.Context, cost int64) { r.Refund(cost) }

type keyedRate struct {
	*sluice.Keyed
	key string
}

func (keyedRate) try(int64) bool { return false }

// take asks a store once, so that a statement costs one round trip.
func (r keyedRate) take(p *patience, cost int64) error {
	if !p.none() {
		return r.WaitN(p.bounded(), r.key, cost)
	}
	d, err := r.AllowN(p.parent, r.key, cost)
	if err == nil && !d.Allowed {
		err = &sluice.LimitedError{Key: r.key, Decision: d}
	}
	return err
}

func (r keyedRate) refund(ctx context.Context, cost int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	_ = r.Refund(ctx, r.key, cost) // stays spent if the store cannot be reached
}
