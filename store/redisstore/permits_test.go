package redisstore_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestDeniedAcquireReadsLittle: after one permit has expired, all are read once, and
// not by every request that is denied.
func TestDeniedAcquireReadsLittle(t *testing.T) {
	c := dial(t, redistest.Start(t))
	now := time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)
	s := open(t, c, redisstore.WithClock(func() time.Time { return now }))
	p := mustCompile(t, algo.Spec{Kind: algo.Concurrency, Count: 3})
	acquire := func(id string, cost int64, hold time.Duration) bool {
		check := store.Check{Key: "k", Spec: p, Cost: cost, ID: id, Hold: hold.Microseconds()}
		return take(t, s, store.Acquire, check)[0].Verdict.Allowed
	}
	if !acquire("a", 1, time.Second) || !acquire("b", 1, time.Hour) || !acquire("c", 1, time.Hour) {
		t.Fatal("three of three are denied")
	}
	now = now.Add(2 * time.Second)
	do(t, c, "CONFIG", "RESETSTAT")
	for range 20 {
		if acquire("d", 2, time.Hour) {
			t.Fatal("four of three are held")
		}
	}
	stats := do(t, c, "INFO", "commandstats").(string)
	if !strings.Contains(stats, "cmdstat_hgetall:calls=1,") {
		t.Errorf("20 denials did not read all permits once:\n%s", stats)
	}
	if !acquire("d", 1, time.Hour) {
		t.Error("the permit that expired is not free")
	}
}

// TestBrokenPermits: what is said of all permits must be numbers that can be, else it
// is an error; an owner whose permit is broken has none.
func TestBrokenPermits(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	p := mustCompile(t, algo.Spec{Kind: algo.Concurrency, Count: 10})
	check := store.Check{Key: "k", Spec: p, Cost: 1, ID: "me", Hold: 1e6}
	key := redisstore.StateKey(s, &check)
	far := float64(time.Now().Add(time.Hour).UnixMicro())
	impossible := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1 << 53}
	for field := range 5 {
		for _, bad := range impossible {
			numbers := []float64{1, 1, far, far, far - 3600e6}
			numbers[field] = bad
			header := "\x01" + string(doubles(numbers...))
			do(t, c, "HSET", key, "", header)
			for _, op := range []store.Op{store.Acquire, store.Renew, store.Release} {
				if err := s.Take(context.Background(), op, []store.Check{check}); !errors.Is(err, redisstore.ErrState) {
					t.Errorf("number %d is %v: error %v", field, bad, err)
				}
			}
			if got := do(t, c, "HGET", key, ""); got != header || do(t, c, "HLEN", key).(int64) != 1 {
				t.Errorf("number %d is %v: the value was changed", field, bad)
			}
		}
	}
	for _, bad := range impossible {
		for _, owner := range [][]float64{{bad, far}, {1, bad}} {
			do(t, c, "DEL", key)
			do(t, c, "HSET", key, "", "\x01"+string(doubles(2, 7, 1, far, 1)), "me", string(doubles(owner...)), "you", string(doubles(4, far)))
			if v := take(t, s, store.Renew, check)[0].Verdict; v.Allowed {
				t.Errorf("a permit of %v was renewed", owner)
			}
			if left := p.Remaining(take(t, s, store.Acquire, check)[0].Verdict); left != 5 {
				t.Errorf("beside a permit of %v %d remain, want 5", owner, left)
			}
			if fields := do(t, c, "HLEN", key).(int64); fields != 3 {
				t.Errorf("%d fields, want 3", fields)
			}
		}
	}
}
