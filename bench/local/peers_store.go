package local

import (
	"context"
	"time"

	sethvargo "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	throttledmem "github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululemem "github.com/ulule/limiter/v3/drivers/store/memory"
)

// storePeers are the libraries that keep keys themselves.
func storePeers() []Contestant {
	return []Contestant{{
		Name: "throttled", Module: "github.com/throttled/throttled/v2",
		Doubt:     "gives up with an error after ten lost races",
		NewSingle: asSingle(newThrottled), NewKeyed: newThrottled,
	}, {
		Name: "sethvargo", Module: "github.com/sethvargo/go-limiter", Model: Windows,
		Doubt:     "refills too little above 31,600 per second",
		NewSingle: asSingle(newSethvargo), NewKeyed: newSethvargo,
	}, {
		Name: "ulule", Module: "github.com/ulule/limiter/v3", Model: Windows,
		NewSingle: asSingle(newUlule), NewKeyed: newUlule,
	}}
}

// must is for constructors that cannot fail with the quotas used here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type throttledKeyed struct{ l *throttled.GCRARateLimiterCtx }

func newThrottled(q Quota, _ int) Keyed {
	return throttledKeyed{must(throttled.NewGCRARateLimiterCtx(must(throttledmem.NewCtx(0)), throttled.RateQuota{
		MaxRate:  throttled.PerDuration(int(q.Count), q.Period),
		MaxBurst: int(q.Burst - 1),
	}))}
}

// Run implements Keyed.
func (k throttledKeyed) Run(seq string) (t Tally) {
	ctx := context.Background()
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		limited, _, err := k.l.RateLimitCtx(ctx, seq[:KeyLen], 1)
		t.countErr(!limited, err)
	}
	return t
}

type sethvargoKeyed struct{ s sethvargo.Store }

func newSethvargo(q Quota, _ int) Keyed {
	n, d := q.window()
	return sethvargoKeyed{must(memorystore.New(&memorystore.Config{Tokens: uint64(n), Interval: d}))}
}

// Run implements Keyed.
func (k sethvargoKeyed) Run(seq string) (t Tally) {
	ctx := context.Background()
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		_, _, _, ok, err := k.s.Take(ctx, seq[:KeyLen])
		t.countErr(ok, err)
	}
	return t
}

// Close stops the sweeper.
func (k sethvargoKeyed) Close() { _ = k.s.Close(context.Background()) }

type ululeKeyed struct{ l *ulule.Limiter }

// newUlule cleans once per hour instead of every 30 seconds, so that its
// cleaner does not run beside somebody else's round.
func newUlule(q Quota, _ int) Keyed {
	n, d := q.window()
	store := ululemem.NewStoreWithOptions(ulule.StoreOptions{
		Prefix: ulule.DefaultPrefix, CleanUpInterval: time.Hour,
	})
	return ululeKeyed{ulule.New(store, ulule.Rate{Limit: n, Period: d})}
}

// Run implements Keyed.
func (k ululeKeyed) Run(seq string) (t Tally) {
	ctx := context.Background()
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		c, err := k.l.Get(ctx, seq[:KeyLen])
		t.countErr(!c.Reached, err)
	}
	return t
}
