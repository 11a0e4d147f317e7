package local

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// Names of the library's own contestants.
const (
	oursPlain  = "sluice"
	oursCoarse = "sluice, coarse clock"
)

func ours() []Contestant {
	return []Contestant{{
		Name: oursPlain, Kind: Ours,
		NewSingle: func(q Quota) Single { return oursSingle{sluice.NewLimiter(limitOf(q)), nil} },
		NewKeyed: func(q Quota, keys int) Keyed {
			return oursKeyed{sluice.NewKeyed(limitOf(q), sluice.WithStore(roomFor(keys)))}
		},
	}, {
		Name: oursCoarse, Kind: Ours, Doubt: lags,
		NewSingle: func(q Quota) Single {
			c := sluice.NewCoarseClock(time.Millisecond)
			return oursSingle{sluice.NewLimiter(limitOf(q), sluice.WithCoarseClock(c)), c}
		},
	}}
}

func limitOf(q Quota) sluice.Limit { return sluice.Per(q.Count, q.Period).WithBurst(q.Burst) }

// roomFor is a store whose cap is no hindrance to the given number of keys.
func roomFor(keys int) *memstore.Store {
	return memstore.New(memstore.MaxBytes(max(256<<20, int64(keys)*2048)))
}

type oursSingle struct {
	l *sluice.Limiter
	c *sluice.CoarseClock
}

// Run implements Single.
func (o oursSingle) Run(n int) (t Tally) {
	for range n {
		t.count(o.l.Allow())
	}
	return t
}

// Close stops the coarse clock.
func (o oursSingle) Close() {
	if o.c != nil {
		o.c.Stop()
	}
}

type oursKeyed struct{ k *sluice.Keyed }

// Run implements Keyed.
func (o oursKeyed) Run(seq string) (t Tally) {
	ctx := context.Background()
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		d, err := o.k.Allow(ctx, seq[:KeyLen])
		t.countErr(d.Allowed, err)
	}
	return t
}

// warmUpTime is how long a warm-up takes.
const warmUpTime = time.Second

// oursAlgorithms are the other algorithms, each with a quota that admits about
// what the case asks: some ten requests per key in a run, at most a few per
// second.
func oursAlgorithms() []algorithm {
	var (
		window = Quota{Count: 1_000_000, Period: time.Hour, Burst: 1_000_000}
		log    = Quota{Count: 64, Period: time.Hour, Burst: 64}
		queue  = Quota{Count: 100, Period: time.Second, Burst: 100}
	)
	return []algorithm{
		algorithmOf("fixed_window", window, nil, func(l *sluice.Limit) { l.Algorithm = sluice.FixedWindow }),
		algorithmOf("sliding_window", window, stateFloor(windowFloor), func(l *sluice.Limit) { l.Algorithm = sluice.SlidingWindow }),
		algorithmOf("sliding_window_weighted", window, nil, func(l *sluice.Limit) {
			l.Algorithm, l.Weighted = sluice.SlidingWindow, true
		}),
		algorithmOf("sliding_log", log, stateFloor(logFloor), func(l *sluice.Limit) { l.Algorithm = sluice.SlidingLog }),
		algorithmOf("leaky_bucket", queue, nil, func(l *sluice.Limit) { l.Algorithm = sluice.LeakyBucket }),
		algorithmOf("warm_up", queue, stateFloor(warmUpFloor), func(l *sluice.Limit) {
			l.Algorithm, l.WarmUp = sluice.WarmUp, warmUpTime
		}),
	}
}

func algorithmOf(name string, q Quota, floor func(Quota, int) Keyed, set func(*sluice.Limit)) algorithm {
	return algorithm{name: name, quota: q, floor: floor, build: func(q Quota, keys int) Keyed {
		l := sluice.Per(q.Count, q.Period)
		set(&l)
		return oursKeyed{sluice.NewKeyed(l, sluice.WithStore(roomFor(keys)))}
	}}
}

// oursProbes are the operations that must not allocate.
func oursProbes() []probe {
	const key = "a key of a user"
	ctx := context.Background()
	yes, no := sluice.NewLimiter(limitOf(plenty)), sluice.NewLimiter(limitOf(drained))
	keyed := sluice.NewKeyed(limitOf(roomy))
	empty := sluice.NewKeyed(limitOf(drained))
	times := func(f func()) func(int) {
		return func(n int) {
			for range n {
				f()
			}
		}
	}
	return []probe{
		{"limiter_allowed", times(func() { yes.Allow() })},
		{"limiter_denied", times(func() { no.Allow() })},
		{"keyed_allowed", times(func() { _, _ = keyed.Allow(ctx, key) })},
		{"keyed_denied", times(func() { _, _ = empty.Allow(ctx, key) })},
		{"keyed_peek", times(func() { _, _ = keyed.Peek(ctx, key) })},
		{"keyed_peek_denied", times(func() { _, _ = empty.Peek(ctx, key) })},
	}
}

// oursCapped is a store with a cap, for the flood.
func oursCapped(q Quota, maxBytes int64) (decide func(string) bool) {
	ctx := context.Background()
	k := sluice.NewKeyed(limitOf(q), sluice.WithStore(memstore.New(memstore.MaxBytes(maxBytes))))
	return func(key string) bool {
		d, _ := k.Allow(ctx, key)
		return d.Allowed
	}
}
