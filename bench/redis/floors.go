package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// Names of the floors.
const (
	floorGoRedis = "floor: go-redis, TIME+GET+SET script"
	floorRueidis = "floor: rueidis, same script"
	floorFlush   = "floor: rueidis, MaxFlushDelay 20µs"
	floorBatch   = "floor: rueidis, 32 keys per EVALSHA, 4 callers"
)

// The raw scripts: read the clock, the key, and write it.
const (
	rawScript = `
local t = redis.call('TIME')
redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], t[1])
return 1`
	rawBatchScript = `
local t = redis.call('TIME')
for i = 1, #KEYS do
  redis.call('GET', KEYS[i])
  redis.call('SET', KEYS[i], t[1])
end
return #KEYS`
)

// flushDelay is how long rueidis may wait for company of a command, in the
// contestants that say so.
const flushDelay = 20 * time.Microsecond

func floors() []Contestant {
	return []Contestant{
		{Name: floorGoRedis, Module: "github.com/redis/go-redis/v9", Kind: Floor, Open: openRawGoRedis},
		{Name: floorRueidis, Module: "github.com/redis/rueidis", Kind: Floor, Open: openRaw(0, rawScript)},
		{Name: floorFlush, Kind: Floor, Open: openRaw(flushDelay, rawScript)},
		{Name: floorBatch, Kind: Floor, Open: openRaw(0, rawBatchScript), Batch: 32, MaxCallers: 4},
	}
}

// goRedisClient is the client of everybody who uses go-redis: its defaults, but
// nothing is sent twice.
func goRedisClient(e Env) *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: e.addr(), DB: e.DB, MaxRetries: -1})
}

// rueidisOptions are the options of everybody who uses rueidis: its defaults
// without the client-side cache, which a limiter has no use for.
func rueidisOptions(e Env, flush time.Duration) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: []string{e.addr()}, SelectDB: e.DB,
		DisableCache: true, MaxFlushDelay: flush,
	}
}

type rawGoRedis struct {
	client *goredis.Client
	sha    string
}

func openRawGoRedis(e Env, _ Quota) (Limiter, error) {
	client := goRedisClient(e)
	sha, err := client.ScriptLoad(context.Background(), rawScript).Result()
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	return rawGoRedis{client, sha}, nil
}

// Take implements Limiter.
func (r rawGoRedis) Take(ctx context.Context, keys []string) (int, error) {
	return r.client.EvalSha(ctx, r.sha, keys).Int()
}

// Close implements Limiter.
func (r rawGoRedis) Close() { _ = r.client.Close() }

type rawRueidis struct {
	client rueidis.Client
	sha    string
}

func openRaw(flush time.Duration, script string) func(Env, Quota) (Limiter, error) {
	return func(e Env, _ Quota) (Limiter, error) {
		client, err := rueidis.NewClient(rueidisOptions(e, flush))
		if err != nil {
			return nil, err
		}
		sha, err := client.Do(context.Background(), client.B().ScriptLoad().Script(script).Build()).ToString()
		if err != nil {
			client.Close()
			return nil, err
		}
		return rawRueidis{client, sha}, nil
	}
}

// Take implements Limiter.
func (r rawRueidis) Take(ctx context.Context, keys []string) (int, error) {
	cmd := r.client.B().Evalsha().Sha1(r.sha).Numkeys(int64(len(keys))).Key(keys...).Build()
	n, err := r.client.Do(ctx, cmd).AsInt64()
	return int(n), err
}

// Close implements Limiter.
func (r rawRueidis) Close() { r.client.Close() }
