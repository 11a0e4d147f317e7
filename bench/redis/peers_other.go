package redis

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/httprate"
	httprateredis "github.com/go-chi/httprate-redis"
	redsync "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/mennanov/limiters"
	goredis "github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	vearne "github.com/vearne/ratelimit"
	"github.com/vearne/ratelimit/tokenbucket"
)

const peerVearne = "vearne, leases of 10"

// otherPeers are the libraries that need several calls, a lock or a lease.
func otherPeers() []Contestant {
	return []Contestant{{
		Name: "throttled", Module: "github.com/throttled/throttled/v2",
		Note: "GCRA, compare-and-swap from the client", Open: openThrottled,
	}, {
		Name: "mennanov sliding window", Module: "github.com/mennanov/limiters",
		Note: "refused calls count", Open: openMennanovWindow,
	}, {
		Name: "mennanov token bucket + lock", Module: "github.com/mennanov/limiters", Open: openMennanovBucket,
	}, {
		Name: "httprate-redis", Module: "github.com/go-chi/httprate-redis",
		Doubt: "checks, then counts", Open: openHTTPRate,
	}, {
		Name: peerVearne, Module: "github.com/vearne/ratelimit",
		Doubt: "denies while there are tokens", Open: openVearne,
	}}
}

type throttledLimiter struct {
	client *goredis.Client
	l      *throttled.GCRARateLimiterCtx
}

func openThrottled(e Env, q Quota) (Limiter, error) {
	client := goRedisClient(e)
	store, err := goredisstore.NewCtx(client, "throttled:")
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{
		MaxRate: throttled.PerDuration(int(q.Count), q.Period), MaxBurst: int(q.Burst - 1),
	})
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return throttledLimiter{client, l}, nil
}

// Take implements Limiter.
func (t throttledLimiter) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		limited, _, err := t.l.RateLimitCtx(ctx, key, 1)
		return !limited, err
	})
}

// Close implements Limiter.
func (t throttledLimiter) Close() { _ = t.client.Close() }

// perKey holds one limiter per key, for libraries that know no keys.
type perKey[L any] struct {
	client *goredis.Client
	m      sync.Map
	open   func(key string) (L, error)
	take   func(ctx context.Context, l L) (bool, error)
}

// Take implements Limiter.
func (p *perKey[L]) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		v, ok := p.m.Load(key)
		if !ok {
			l, err := p.open(key)
			if err != nil {
				return false, err
			}
			v, _ = p.m.LoadOrStore(key, l)
		}
		return p.take(ctx, v.(L))
	})
}

// Close implements Limiter.
func (p *perKey[L]) Close() { _ = p.client.Close() }

// admittedUnless turns the answer of a mennanov limiter into ours.
func admittedUnless(err error) (bool, error) {
	if errors.Is(err, limiters.ErrLimitExhausted) {
		return false, nil
	}
	return err == nil, err
}

func openMennanovWindow(e Env, q Quota) (Limiter, error) {
	client, clock := goRedisClient(e), limiters.NewSystemClock()
	n, window := q.window()
	return &perKey[*limiters.SlidingWindow]{
		client: client,
		open: func(key string) (*limiters.SlidingWindow, error) {
			return limiters.NewSlidingWindow(n, window, limiters.NewSlidingWindowRedis(client, key), clock, 1e-9), nil
		},
		take: func(ctx context.Context, l *limiters.SlidingWindow) (bool, error) {
			_, err := l.Limit(ctx)
			return admittedUnless(err)
		},
	}, nil
}

func openMennanovBucket(e Env, q Quota) (Limiter, error) {
	client, clock := goRedisClient(e), limiters.NewSystemClock()
	pool, logger := redsync.NewPool(client), limiters.NewStdLogger()
	return &perKey[*limiters.TokenBucket]{
		client: client,
		open: func(key string) (*limiters.TokenBucket, error) {
			return limiters.NewTokenBucket(q.Burst, q.perToken(), limiters.NewLockRedis(pool, key+"_lock"),
				limiters.NewTokenBucketRedis(client, key, time.Hour, false), clock, logger), nil
		},
		take: func(ctx context.Context, l *limiters.TokenBucket) (bool, error) {
			_, err := l.Limit(ctx)
			return admittedUnless(err)
		},
	}, nil
}

func openVearne(e Env, q Quota) (Limiter, error) {
	client := goRedisClient(e)
	return &perKey[vearne.Limiter]{
		client: client,
		open: func(key string) (vearne.Limiter, error) {
			return tokenbucket.NewTokenBucketRateLimiter(context.Background(), client, key,
				q.Period, int(q.Count), int(q.Burst), 10)
		},
		take: func(ctx context.Context, l vearne.Limiter) (bool, error) { return l.Take(ctx) },
	}, nil
}

type httpRate struct {
	l     *httprate.RateLimiter
	r     *http.Request
	close func() error
}

// httpWriter is a response that keeps only headers, and notes a failure.
type httpWriter struct {
	h   http.Header
	err error
}

func (w *httpWriter) Header() http.Header         { return w.h }
func (w *httpWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *httpWriter) WriteHeader(int)             {}

func openHTTPRate(e Env, q Quota) (Limiter, error) {
	n, window := q.window()
	counter := httprateredis.NewCounter(&httprateredis.Config{
		Host: e.Host, Port: uint16(e.Port), DBIndex: e.DB, FallbackDisabled: true,
	})
	r, err := http.NewRequest(http.MethodGet, "/", http.NoBody)
	if err != nil {
		return nil, errors.Join(err, counter.Close())
	}
	noteError := func(w http.ResponseWriter, _ *http.Request, err error) { w.(*httpWriter).err = err }
	l := httprate.NewRateLimiter(int(n), window,
		httprate.WithLimitCounter(counter), httprate.WithErrorHandler(noteError))
	return httpRate{l, r, counter.Close}, nil
}

// Take implements Limiter.
func (h httpRate) Take(_ context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		w := httpWriter{h: make(http.Header, 4)}
		limited := h.l.OnLimit(&w, h.r, key)
		return !limited, w.err
	})
}

// Close implements Limiter.
func (h httpRate) Close() { _ = h.close() }
