package sqllimit

import (
	"math"
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
	// take spends cost, or returns an error and spends nothing. It asks once.
	take(p *patience, cost int64) error
	// refund gives cost back.
	refund(cost int64)
	// most is the highest cost that it can admit at once.
	most() int64
	// soonest returns how long it takes at least to admit cost in all, if it has
	// just denied lacking.
	soonest(cost, lacking int64) time.Duration
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

type localRate struct{ *sluice.Limiter }

func (r localRate) try(cost int64) bool { return r.Decide(cost).Allowed }

func (r localRate) take(_ *patience, cost int64) error {
	if d := r.Decide(cost); !d.Allowed {
		return &sluice.LimitedError{Decision: d}
	}
	return nil
}

func (r localRate) refund(cost int64) { r.Refund(cost) }
func (r localRate) most() int64       { return most(r.Limit()) }

func (r localRate) soonest(cost, lacking int64) time.Duration {
	return soonest(r.Limit(), cost, lacking)
}

func most(limit sluice.Limit) int64 {
	if limit.Algorithm == sluice.NoLimit {
		return math.MaxInt64
	}
	if limit.Burst > 0 {
		return limit.Burst
	}
	return limit.Count
}

// soonest is a lower bound: a bucket that lacks something has less than that, a
// window may get all of its count in the next moment.
func soonest(limit sluice.Limit, cost, lacking int64) time.Duration {
	has := limit.Count
	switch limit.Algorithm {
	case sluice.TokenBucket, sluice.LeakyBucket, "":
		has = lacking
	}
	if limit.Count <= 0 || cost <= has {
		return 0
	}
	return time.Duration(float64(cost-has) / float64(limit.Count) * float64(limit.Period))
}
