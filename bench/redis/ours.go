package redis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice"
	sluicegoredis "github.com/sluice-limiter/sluice/contrib/goredis"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// sameClient is the raw script through the client that sluicerueidis.Open makes.
const sameClient = floorFlush

// ours are the library as its users get it, and over its other client.
func ours() []Contestant {
	return []Contestant{
		oursPlain(),
		{Name: "sluice over go-redis", Kind: Variant, Open: openGoRedis},
	}
}

func oursPlain() Contestant {
	return Contestant{Name: "sluice", Kind: Ours, Open: openOurs(nil)}
}

func oursUncoalesced() Contestant {
	return Contestant{Name: "sluice, coalescer off", Kind: Variant, Open: openOurs([]redisstore.Option{redisstore.WithoutCoalescing()})}
}

func oursUncached() Contestant {
	return Contestant{Name: "sluice, denial cache off", Kind: Variant, Open: openOurs([]redisstore.Option{redisstore.DenialCache(0, 0)})}
}

// oursThreeLimits has three limits where the others have one.
func oursThreeLimits() Contestant {
	return Contestant{Name: "sluice, three limits", Kind: Ours, Open: openOurs(nil, sluice.PerSecond(1), sluice.PerSecond(10))}
}

// oursOneLimit is what three limits are compared with.
func oursOneLimit() Contestant {
	return Contestant{Name: "sluice, one limit", Kind: Variant, Open: openOurs(nil)}
}

// oursLeased takes tokens ahead, in the strict mode that is the default.
func oursLeased() Contestant {
	return Contestant{Name: "sluice, leases", Kind: Ours, Open: openLeased}
}

// keyed is the library over some store.
type keyed struct {
	k     *sluice.Keyed
	close func()
}

// newKeyed limits by the quota, and by further limits that never bind.
func newKeyed(s store.Store, q Quota, close func(), more ...sluice.Limit) keyed {
	limit := sluice.Per(q.Count, q.Period).WithBurst(q.Burst)
	for i := range more {
		more[i].Burst = q.Burst
	}
	return keyed{sluice.NewKeyed(limit, sluice.WithStore(s), sluice.WithLimits(more...)), close}
}

// Take implements Limiter.
func (k keyed) Take(ctx context.Context, keys []string) (int, error) {
	return each(keys, func(key string) (bool, error) {
		d, err := k.k.Allow(ctx, key)
		return d.Allowed, err
	})
}

// Close implements Limiter.
func (k keyed) Close() { k.close() }

// connect opens a store with the settings that users get.
func connect(e Env, opts ...redisstore.Option) (*redisstore.Store, func(), error) {
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{e.addr()}, SelectDB: e.DB})
	if err != nil {
		return nil, nil, err
	}
	s, err := redisstore.New(client, opts...)
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return s, client.Close, nil
}

func openOurs(opts []redisstore.Option, more ...sluice.Limit) func(Env, Quota) (Limiter, error) {
	return func(e Env, q Quota) (Limiter, error) {
		s, closeClient, err := connect(e, opts...)
		if err != nil {
			return nil, err
		}
		return newKeyed(s, q, closeClient, more...), nil
	}
}

func openGoRedis(e Env, q Quota) (Limiter, error) {
	client := goRedisClient(e)
	scripter, err := sluicegoredis.New(client)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	s, err := redisstore.New(scripter)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return newKeyed(s, q, func() { _ = client.Close() }), nil
}

func openLeased(e Env, q Quota) (Limiter, error) {
	s, closeClient, err := connect(e)
	if err != nil {
		return nil, err
	}
	leased, err := lease.New(s)
	if err != nil {
		closeClient()
		return nil, err
	}
	return newKeyed(leased, q, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = leased.Close(ctx)
		closeClient()
	}), nil
}
