package local

import (
	"context"
	"time"

	bsm "github.com/bsm/ratelimit"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/go-kratos/aegis/ratelimit"
	"github.com/go-kratos/aegis/ratelimit/bbr"
	juju "github.com/juju/ratelimit"
	kelindar "github.com/kelindar/rate"
	"github.com/mennanov/limiters"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// bucketPeers are the libraries whose limiter has no keys.
func bucketPeers() []Contestant {
	const syncMapNote = "in a sync.Map"
	return append([]Contestant{{
		Name: "x/time/rate", Module: "golang.org/x/time", KeyedNote: syncMapNote,
		NewSingle: func(q Quota) Single { return xtime{newXtime(q)} },
		NewKeyed:  inSyncMap(newXtime, (*rate.Limiter).Allow),
	}, {
		Name: "x/time/rate in xsync.Map", Module: "github.com/puzpuzpuz/xsync/v4", Like: "x/time/rate",
		NewKeyed: inXsyncMap(newXtime, (*rate.Limiter).Allow),
	}, {
		Name: "juju", Module: "github.com/juju/ratelimit", KeyedNote: syncMapNote,
		NewSingle: func(q Quota) Single { return jujuBucket{newJuju(q)} },
		NewKeyed:  inSyncMap(newJuju, func(b *juju.Bucket) bool { return b.TakeAvailable(1) == 1 }),
	}, {
		Name: "mennanov", Module: "github.com/mennanov/limiters", KeyedNote: syncMapNote,
		NewSingle: func(q Quota) Single { return mennanov{newMennanov(q)} },
		NewKeyed:  inSyncMap(newMennanov, allowMennanov),
	}, {
		Name: "failsafe-go", Module: "github.com/failsafe-go/failsafe-go", Model: Windows, KeyedNote: syncMapNote,
		NewSingle: func(q Quota) Single { return failsafe{newFailsafe(q)} },
		NewKeyed:  inSyncMap(newFailsafe, ratelimiter.RateLimiter[any].TryAcquirePermit),
	}}, oddBuckets(syncMapNote)...)
}

// oddBuckets are the ones that are known not to keep the limit, or to have
// none.
func oddBuckets(note string) []Contestant {
	return []Contestant{{
		Name: "uber", Module: "go.uber.org/ratelimit", Model: Blocking, Note: "blocks only; never denies",
		NewSingle: func(q Quota) Single {
			return uberLimiter{uber.New(int(q.Count), uber.Per(q.Period))}
		},
	}, {
		Name: "bsm", Module: "github.com/bsm/ratelimit", KeyedNote: note,
		Doubt:     "over-admits under concurrency",
		NewSingle: func(q Quota) Single { return bsmLimiter{newBsm(q)} },
		NewKeyed:  inSyncMap(newBsm, func(l *bsm.RateLimiter) bool { return !l.Limit() }),
	}, {
		Name: "kelindar", Module: "github.com/kelindar/rate", KeyedNote: note,
		Doubt:     "over-admits under concurrency",
		NewSingle: func(q Quota) Single { return kelindarLimiter{newKelindar(q)} },
		NewKeyed:  inSyncMap(newKelindar, func(l *kelindar.Limiter) bool { return !l.Limit() }),
	}, {
		Name: "aegis", Module: "github.com/go-kratos/aegis", Model: Adaptive,
		Doubt: "adaptive: it has no rate", Note: "enter and leave",
		NewSingle: func(Quota) Single { return aegis{bbr.NewLimiter()} },
	}}
}

type xtime struct{ l *rate.Limiter }

func newXtime(q Quota) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(q.perSecond()), int(q.Burst))
}

// Run implements Single.
func (x xtime) Run(n int) (t Tally) {
	for range n {
		t.count(x.l.Allow())
	}
	return t
}

type jujuBucket struct{ b *juju.Bucket }

func newJuju(q Quota) *juju.Bucket { return juju.NewBucket(q.perToken(), q.Burst) }

// Run implements Single.
func (j jujuBucket) Run(n int) (t Tally) {
	for range n {
		t.count(j.b.TakeAvailable(1) == 1)
	}
	return t
}

type mennanov struct{ b *limiters.TokenBucket }

func newMennanov(q Quota) *limiters.TokenBucket {
	return limiters.NewTokenBucket(q.Burst, q.perToken(), limiters.NewLockNoop(),
		limiters.NewTokenBucketInMemory(), limiters.NewSystemClock(), limiters.NewStdLogger())
}

func allowMennanov(b *limiters.TokenBucket) bool {
	_, err := b.Limit(context.Background())
	return err == nil
}

// Run implements Single.
func (m mennanov) Run(n int) (t Tally) {
	ctx := context.Background()
	for range n {
		_, err := m.b.Limit(ctx)
		t.count(err == nil)
	}
	return t
}

type failsafe struct{ l ratelimiter.RateLimiter[any] }

func newFailsafe(q Quota) ratelimiter.RateLimiter[any] {
	n, d := q.window()
	return ratelimiter.NewBursty[any](uint(n), d)
}

// Run implements Single.
func (f failsafe) Run(n int) (t Tally) {
	for range n {
		t.count(f.l.TryAcquirePermit())
	}
	return t
}

type uberLimiter struct{ l uber.Limiter }

// Run implements Single.
func (u uberLimiter) Run(n int) Tally {
	for range n {
		u.l.Take()
	}
	return Tally{Admitted: int64(n)}
}

// antti is the quota of bsm and kelindar, which multiply the rate by the
// nanoseconds of the period in 64 bits and know no other burst than the rate.
func antti(q Quota) (int, time.Duration) {
	if q.Burst > q.Count {
		if q.Burst > 100_000 {
			return 1_000_000_000, time.Second
		}
		return int(q.Burst), 24 * time.Hour
	}
	return int(q.Count), q.Period
}

type bsmLimiter struct{ l *bsm.RateLimiter }

func newBsm(q Quota) *bsm.RateLimiter { return bsm.New(antti(q)) }

// Run implements Single.
func (b bsmLimiter) Run(n int) (t Tally) {
	for range n {
		t.count(!b.l.Limit())
	}
	return t
}

type kelindarLimiter struct{ l *kelindar.Limiter }

func newKelindar(q Quota) *kelindar.Limiter { return kelindar.New(antti(q)) }

// Run implements Single.
func (k kelindarLimiter) Run(n int) (t Tally) {
	for range n {
		t.count(!k.l.Limit())
	}
	return t
}

type aegis struct{ l *bbr.BBR }

// Run implements Single.
func (a aegis) Run(n int) (t Tally) {
	for range n {
		done, err := a.l.Allow()
		if err == nil {
			done(ratelimit.DoneInfo{})
		}
		t.count(err == nil)
	}
	return t
}
