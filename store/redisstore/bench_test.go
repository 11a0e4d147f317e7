package redisstore_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// bare is the least that a limiter on Redis can do.
const bare = `local t = redis.call('TIME')
redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], t[1] .. '.' .. t[2], 'PX', 1000)
return {1, 2, 3, 4, 5}`

// bareMany is the same for many keys.
const bareMany = `local t = redis.call('TIME')
local reply = {}
for i = 1, #KEYS do
  redis.call('GET', KEYS[i])
  redis.call('SET', KEYS[i], t[1] .. '.' .. t[2], 'PX', 1000)
  reply[i] = 1
end
return reply`

// BenchmarkServer prints what a decision costs the server, in µs of processor time
// (us/decision), beside what it costs the callers.
func BenchmarkServer(b *testing.B) {
	c := dial(b, redistest.Start(b))
	s := open(b, c)
	bucket := mustCompile(b, algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1e6, Burst: 1e9})
	ctx := context.Background()
	one := func(key string, specs ...*algo.Spec) []store.Check {
		var checks []store.Check
		for _, p := range specs {
			checks = append(checks, store.Check{Key: key, Spec: p, Cost: 1})
		}
		return checks
	}
	alone := func(checks []store.Check) error { // never with others in one call
		return s.TakeMany(ctx, []redisstore.Decision{{Op: store.Spend, Checks: checks}})
	}
	key := func(i int) string { return fmt.Sprintf("user:%011d", i*7919%100_000) }
	sha, err := c.Do(ctx, "SCRIPT", "LOAD", bare)
	if err != nil {
		b.Fatal(err)
	}
	server(b, c, "bare script", 1, func(i int) error {
		_, err := c.EvalSha(ctx, sha.(string), []string{"barely:1s:{" + key(i) + "}"}, nil)
		return err
	})
	many, err := c.Do(ctx, "SCRIPT", "LOAD", bareMany)
	if err != nil {
		b.Fatal(err)
	}
	server(b, c, "bare script of 32", 32, func(i int) error {
		var keys []string
		for j := range 32 {
			keys = append(keys, "barely:1s:{"+key(32*i+j)+"}")
		}
		_, err := c.EvalSha(ctx, many.(string), keys, nil)
		return err
	})
	server(b, c, "one", 1, func(i int) error { return alone(one(key(i), bucket)) })
	for _, keys := range []int{1, 100_000} {
		server(b, c, fmt.Sprintf("32 per call of %d keys", keys), 32, func(i int) error {
			var all []redisstore.Decision
			for j := range 32 {
				all = append(all, redisstore.Decision{Op: store.Spend, Checks: one(key((32*i+j)%keys), bucket)})
			}
			return s.TakeMany(ctx, all)
		})
	}
	three := []*algo.Spec{
		bucket, mustCompile(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e5, Period: 60e6, Burst: 1e9}),
		mustCompile(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 3600e6, Burst: 1e9}),
	}
	server(b, c, "three limits", 1, func(i int) error { return alone(one("three"+key(i), three...)) })
	server(b, c, "three limits, 32 per call", 32, func(i int) error {
		var all []redisstore.Decision
		for j := range 32 {
			all = append(all, redisstore.Decision{Op: store.Spend, Checks: one("three"+key(32*i+j), three...)})
		}
		return s.TakeMany(ctx, all)
	})
	for _, p := range others(b) {
		server(b, c, fmt.Sprint("kind ", p.Kind), 1, func(i int) error {
			return alone(one(fmt.Sprint("kind", p.Kind, key(i%1000)), p))
		})
	}
}

func others(b *testing.B) []*algo.Spec {
	return []*algo.Spec{
		mustCompile(b, algo.Spec{Kind: algo.IntervalBucket, Count: 1000, Period: 1e6, Burst: 1e6}),
		mustCompile(b, algo.Spec{Kind: algo.FixedWindow, Count: 1e6, Period: 1e6}),
		mustCompile(b, algo.Spec{Kind: algo.SlidingWindow, Count: 1e6, Period: 1e6, Sub: 10}),
		mustCompile(b, algo.Spec{Kind: algo.WeightedWindow, Count: 1e6, Period: 1e6}),
		mustCompile(b, algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 1e5, Period: 3600e6}}}),
		mustCompile(b, algo.Spec{Kind: algo.WarmUp, Count: 1000, Period: 1e6, Warm: 1e7, Cold: 3}),
	}
}

func mustCompile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var cpuTime = regexp.MustCompile(`used_cpu_(?:sys|user):([\d.]+)`)

// server runs a benchmark with many calls on the way and reports the processor
// time that the server spent per decision.
func server(b *testing.B, c *resp.Client, name string, decisions int, run func(i int) error) {
	b.Run(name, func(b *testing.B) {
		if err := run(0); err != nil {
			b.Fatal(err)
		}
		var calls atomic.Int64
		before := cpuSpent(b, c)
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := run(int(calls.Add(1))); err != nil {
					b.Error(err)
					return
				}
			}
		})
		micros := (cpuSpent(b, c) - before) * 1e6
		b.ReportMetric(micros/float64(calls.Load()*int64(decisions)), "us/decision")
	})
}

// cpuSpent is the processor time in seconds that the server has used.
func cpuSpent(b *testing.B, c *resp.Client) float64 {
	info, err := c.Do(context.Background(), "INFO", "cpu")
	if err != nil {
		b.Fatal(err)
	}
	sum := 0.0
	for _, found := range cpuTime.FindAllStringSubmatch(info.(string), 2) {
		seconds, _ := strconv.ParseFloat(found[1], 64)
		sum += seconds
	}
	return sum
}
