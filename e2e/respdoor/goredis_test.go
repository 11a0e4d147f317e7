package respdoor

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
)

// openGoRedis connects with one of the versions of the protocol.
func openGoRedis(t *testing.T, address string, protocol int) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: address, Protocol: protocol, Password: token, MaxRetries: -1, ClientName: "test"})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestGoRedis: decisions, rules and errors through go-redis, by both protocols.
func TestGoRedis(t *testing.T) {
	address := serve(t, "--tokens-env", "SLUICE_TEST_TOKENS")
	ctx := context.Background()
	for protocol := 2; protocol <= 3; protocol++ {
		c := openGoRedis(t, address, protocol)
		key := []string{2: "two", 3: "three"}[protocol]
		if got, err := c.Ping(ctx).Result(); err != nil || got != "PONG" {
			t.Fatal(got, err)
		}
		if got, err := c.Do(ctx, "CL.THROTTLE", key, 15, 30, 60).Int64Slice(); err != nil || len(got) != 5 || got[1] != 16 || got[2] != 15 {
			t.Errorf("CL.THROTTLE: %v, %v", got, err)
		}
		answer, err := c.Do(ctx, "SLUICE.CHECK", "login", "ip=192.0.2."+[]string{2: "2", 3: "3"}[protocol]).Result()
		if err != nil {
			t.Fatal(err)
		}
		switch answer := answer.(type) {
		case []any:
			if protocol != 2 || len(answer) != 20 || answer[0] != "allowed" || answer[1] != int64(1) {
				t.Errorf("SLUICE.CHECK by RESP%d: %v", protocol, answer)
			}
		case map[any]any:
			if protocol != 3 || answer["allowed"] != true || answer["remaining"] != int64(4) || answer["rule"] != "login" {
				t.Errorf("SLUICE.CHECK by RESP%d: %v", protocol, answer)
			}
		}
		if err := c.Do(ctx, "SLUICE.CHECK", "nobody").Err(); err == nil || err.Error() != "ERR no rule is called 'nobody'" {
			t.Errorf("an unknown rule: %v", err)
		}
		if got, err := c.ClientGetName(ctx).Result(); err != nil || got != "test" {
			t.Errorf("the name is %q, %v", got, err)
		}
	}
}

// TestGoRedisPipeline: answers of a pipeline stand in its order.
func TestGoRedisPipeline(t *testing.T) {
	c := openGoRedis(t, serve(t, "--tokens-env", "SLUICE_TEST_TOKENS"), 3)
	ctx := context.Background()
	answers, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for range 200 {
			p.Do(ctx, "CL.THROTTLE", "k", 99, 1, 100)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		got, err := a.(*redis.Cmd).Int64Slice()
		if limited := int64(i / 100); err != nil || got[0] != limited || got[2] != max(0, int64(99-i)) {
			t.Fatalf("answer %d: %v, %v", i, got, err)
		}
	}
}

// TestGoRedisExact: many connections at once get what the bucket holds, and no more.
func TestGoRedisExact(t *testing.T) {
	c := openGoRedis(t, serve(t, "--tokens-env", "SLUICE_TEST_TOKENS"), 3)
	if got := exactly(t, func(ctx context.Context) (int64, error) {
		answer, err := c.Do(ctx, "CL.THROTTLE", "k", 99, 1, 1000).Int64Slice()
		if err != nil {
			return 0, err
		}
		return answer[0], nil
	}); got != 100 {
		t.Errorf("%d of 400 went ahead, want 100", got)
	}
}

// exactly asks 400 times from 8 goroutines and returns how often it was not limited.
func exactly(t *testing.T, ask func(context.Context) (limited int64, err error)) int64 {
	t.Helper()
	var allowed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				limited, err := ask(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				allowed.Add(1 - limited)
			}
		})
	}
	all.Wait()
	return allowed.Load()
}
