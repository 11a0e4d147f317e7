package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislimiter"
	sethvargo "github.com/sethvargo/go-limiter"
	"github.com/sethvargo/go-redisstore"
	ulule "github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"
)

// Names that cases refer to.
const (
	peerRedisRate      = "redis_rate"
	peerRueidisLimiter = "rueidislimiter"
)

// scriptPeers are the libraries that decide in one script call.
func scriptPeers() []Contestant {
	return []Contestant{{
		Name: peerRueidisLimiter, Module: "github.com/redis/rueidis/rueidislimiter",
		Note: "counter per window, on the clock of the client", Open: openRueidisLimiter(0),
	}, {
		Name: peerRueidisLimiter + ", MaxFlushDelay 20µs", Kind: Tuned, Open: openRueidisLimiter(flushDelay),
	}, {
		Name: peerRedisRate, Module: "github.com/go-redis/redis_rate/v10",
		Note: "GCRA", Open: openRedisRate,
	}, {
		Name: "ulule", Module: "github.com/ulule/limiter/v3",
		Note: "counter per window", Open: openUlule,
	}, {
		Name: "go-redisstore", Module: "github.com/sethvargo/go-redisstore",
		Note: "tokens per interval, on the clock of the client", Open: openRedisStore,
	}}
}

// each asks about one key after the other.
func each(keys []string, take func(key string) (bool, error)) (admitted int, err error) {
	for _, key := range keys {
		ok, err := take(key)
		if err != nil {
			return 0, err
		}
		if ok {
			admitted++
		}
	}
	return admitted, nil
}

type rueidisLimiter struct {
	l     rueidislimiter.RateLimiterClient
	close func()
}

func openRueidisLimiter(flush time.Duration) func(Env, Quota) (Limiter, error) {
	return func(e Env, q Quota) (Limiter, error) {
		out := &rueidisLimiter{}
		n, window := q.window()
		var err error
		out.l, err = rueidislimiter.NewRateLimiter(rueidislimiter.RateLimiterOption{
			ClientBuilder: func(o rueidis.ClientOption) (rueidis.Client, error) {
				c, err := rueidis.NewClient(o)
				if err == nil {
					out.close = c.Close
				}
				return c, err
			},
			ClientOption: rueidisOptions(e, flush), Limit: int(n), Window: window,
		})
		return out, err
	}
}

// Take implements Limiter.
func (r *rueidisLimiter) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		res, err := r.l.Allow(ctx, key)
		return res.Allowed, err
	})
}

// Close implements Limiter.
func (r *rueidisLimiter) Close() { r.close() }

type redisRate struct {
	client *goredis.Client
	l      *redis_rate.Limiter
	limit  redis_rate.Limit
}

func openRedisRate(e Env, q Quota) (Limiter, error) {
	client := goRedisClient(e)
	return &redisRate{
		client, redis_rate.NewLimiter(client),
		redis_rate.Limit{Rate: int(q.Count), Period: q.Period, Burst: int(q.Burst)},
	}, nil
}

// Take implements Limiter.
func (r *redisRate) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		res, err := r.l.Allow(ctx, key, r.limit)
		return err == nil && res.Allowed > 0, err
	})
}

// Close implements Limiter.
func (r *redisRate) Close() { _ = r.client.Close() }

type ululeLimiter struct {
	client *goredis.Client
	l      *ulule.Limiter
}

func openUlule(e Env, q Quota) (Limiter, error) {
	client := goRedisClient(e)
	store, err := ululeredis.NewStore(client)
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	n, window := q.window()
	return ululeLimiter{client, ulule.New(store, ulule.Rate{Limit: n, Period: window})}, nil
}

// Take implements Limiter.
func (u ululeLimiter) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		c, err := u.l.Get(ctx, key)
		return !c.Reached, err
	})
}

// Close implements Limiter.
func (u ululeLimiter) Close() { _ = u.client.Close() }

type redisStore struct{ s sethvargo.Store }

// openRedisStore keeps connections open and does not test them before use: the
// pool that the library makes itself dials anew for every decision.
func openRedisStore(e Env, q Quota) (Limiter, error) {
	n, window := q.window()
	s, err := redisstore.NewWithPool(&redisstore.Config{Tokens: uint64(n), Interval: window}, &redis.Pool{
		MaxIdle: 128,
		Dial:    func() (redis.Conn, error) { return redis.Dial("tcp", e.addr(), redis.DialDatabase(e.DB)) },
	})
	if err != nil {
		return nil, fmt.Errorf("go-redisstore: %w", err)
	}
	return redisStore{s}, nil
}

// Take implements Limiter.
func (r redisStore) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		_, _, _, ok, err := r.s.Take(ctx, key)
		return ok, err
	})
}

// Close implements Limiter.
func (r redisStore) Close() { _ = r.s.Close(context.Background()) }
