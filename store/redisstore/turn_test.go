package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// bucketRedis is one bucket on a server that is half of delay away. It answers as the
// script does the long way.
type bucketRedis struct {
	spec  *algo.Spec
	delay time.Duration
	hang  atomic.Int64 // calls that never get there
	calls atomic.Int64

	mu    sync.Mutex
	start time.Time
	state algo.State
}

func (s *bucketRedis) EvalSha(ctx context.Context, _ string, _, args []string) ([]int64, error) {
	s.calls.Add(1)
	if s.hang.Add(-1) >= 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(s.delay / 2)
	reply := s.decide(requestsIn(args[0]))
	time.Sleep(s.delay / 2)
	return reply, nil
}

func (s *bucketRedis) decide(n int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(s.start).Microseconds()
	reply := []int64{now}
	for range n {
		v := algo.Decide(s.spec, &s.state, now, 1, 0)
		if v.Allowed {
			reply = append(reply, flagAllowed, v.X, v.Y)
		} else {
			reply = append(reply, 0, v.X, v.Y, v.Z)
		}
	}
	return reply
}

func (s *bucketRedis) Eval(context.Context, string, []string, []string) ([]int64, error) {
	return nil, errors.New("not in this test")
}

// openBucket returns a store over a bucket of 100 per second that holds five, and is
// empty and known to be.
func openBucket(t *testing.T, delay time.Duration) (*Store, *bucketRedis) {
	t.Helper()
	p, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 1e6, Burst: 5})
	if err != nil {
		t.Fatal(err)
	}
	redis := &bucketRedis{spec: p, delay: delay, start: time.Now()}
	s, err := New(redis)
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if _, err := askBucket(t.Context(), s, redis); err != nil {
			t.Fatal(err)
		}
	}
	return s, redis
}

func askBucket(ctx context.Context, s *Store, redis *bucketRedis) (algo.Verdict, error) {
	checks := []store.Check{{Key: "hot", Spec: redis.spec, Cost: 1}}
	err := s.Take(ctx, store.Spend, checks)
	return checks[0].Verdict, err
}

// TestDeniedAskInTurn: callers that come back when they were told to cost the server
// one call for every token, however many they are, and get every token.
func TestDeniedAskInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		begin, before := time.Now(), redis.calls.Load()
		var admitted atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for time.Since(begin) < time.Second {
					v, err := askBucket(t.Context(), s, redis)
					if err != nil {
						t.Error(err)
					}
					if v.Allowed {
						admitted.Add(1)
					}
					time.Sleep(time.Duration(redis.spec.RetryAfter(v)) * time.Microsecond)
				}
			})
		}
		all.Wait()
		got, calls := admitted.Load(), redis.calls.Load()-before
		if got < 99 || got > 101 || calls > got+5 {
			t.Errorf("%d were admitted in %d calls, want 100 in about as many", got, calls)
		}
		if hits := s.Stats().DenialHits; hits < 62*got {
			t.Errorf("%d were denied from memory", hits)
		}
	})
}

// TestHungTurnEnds: a call about a hot key that hangs keeps the others waiting for a
// moment, not until their time is over.
func TestHungTurnEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		redis.hang.Store(1)
		begin := time.Now()
		var failed atomic.Int64
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				_, err := askBucket(ctx, s, redis)
				if took := time.Since(begin); err != nil {
					failed.Add(1)
				} else if took > (slowTurn+2000)*time.Microsecond {
					t.Errorf("answered after %v", took)
				}
			})
		}
		all.Wait()
		if failed.Load() != 1 {
			t.Errorf("%d failed, want the one whose call hung", failed.Load())
		}
	})
}

// TestTurnsMayBeLeft: who waits for a turn leaves when its context ends.
func TestTurnsMayBeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		redis.delay = 15 * time.Millisecond
		var all sync.WaitGroup
		all.Go(func() { _, _ = askBucket(t.Context(), s, redis) })
		synctest.Wait()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err := askBucket(ctx, s, redis)
			if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Millisecond {
				t.Errorf("left after %v: %v", took, err)
			}
		})
		all.Wait()
	})
}

// TestTurnsEndWithTheDenials: once there is enough again, nobody waits for anybody.
func TestTurnsEndWithTheDenials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		time.Sleep(time.Second) // full again
		if v, err := askBucket(t.Context(), s, redis); err != nil || !v.Allowed {
			t.Fatalf("%+v, %v", v, err)
		}
		begin := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				v, err := askBucket(t.Context(), s, redis)
				if took := time.Since(begin); err != nil || !v.Allowed || took != time.Millisecond {
					t.Errorf("%+v, %v after %v", v, err, took)
				}
			})
		}
		all.Wait()
	})
}
