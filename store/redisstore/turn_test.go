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
	return askKey(ctx, s, redis, "hot")
}

func askKey(ctx context.Context, s *Store, redis *bucketRedis, key string) (algo.Verdict, error) {
	checks := []store.Check{{Key: key, Spec: redis.spec, Cost: 1}}
	err := s.Take(ctx, store.Spend, checks)
	return checks[0].Verdict, err
}

// comeBack lets 64 callers ask for a second, each again when it was told to, and
// returns how many were admitted.
func comeBack(t *testing.T, s *Store, redis *bucketRedis) int64 {
	begin := time.Now()
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for time.Since(begin) < time.Second {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				v, err := askBucket(ctx, s, redis)
				cancel()
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
	time.Sleep(time.Second) // what had been sent when somebody left comes to its end
	return admitted.Load()
}

// TestDeniedAskInTurn: callers that come back when they were told to cost the server
// one call for every token, however many they are, and get every token.
func TestDeniedAskInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		before := redis.calls.Load()
		got := comeBack(t, s, redis)
		if calls := redis.calls.Load() - before; got < 99 || got > 101 || calls > got+5 {
			t.Errorf("%d were admitted in %d calls, want 100 in about as many", got, calls)
		}
		if hits := s.Stats().DenialHits; hits < 62*got {
			t.Errorf("%d were denied from memory", hits)
		}
	})
}

// TestTurnsToAFarServer: the wait for a turn leaves time for a call that takes most of
// what there is.
func TestTurnsToAFarServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		redis.delay = 40 * time.Millisecond
		if got := comeBack(t, s, redis); got < 99 || got > 105 {
			t.Errorf("%d were admitted, want about 100", got)
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
		redis.delay = 4 * time.Millisecond
		var all sync.WaitGroup
		all.Go(func() { _, _ = askBucket(t.Context(), s, redis) })
		synctest.Wait()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err := askBucket(ctx, s, redis)
			if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 2*time.Millisecond {
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

// TestKnownLeaveTheTurn: who turns out to be denied while others wait for their turn is
// told so, and does not wait for a call about another key, which may hang.
func TestKnownLeaveTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, redis := openBucket(t, time.Millisecond)
		if v, err := askKey(t.Context(), s, redis, "other"); err != nil || v.Allowed { // of the same bucket
			t.Fatalf("%+v, %v", v, err)
		}
		time.Sleep(11 * time.Millisecond) // one token
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if v, err := askBucket(ctx, s, redis); err != nil || !v.Allowed {
				t.Errorf("the first: %+v, %v", v, err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		all.Go(func() {
			v, err := askBucket(ctx, s, redis)
			if took := time.Since(begin); err != nil || v.Allowed || took != time.Millisecond {
				t.Errorf("the second: %+v, %v after %v", v, err, took)
			}
		})
		redis.hang.Store(1)
		all.Go(func() {
			if _, err := askKey(ctx, s, redis, "other"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the call that hangs: %v", err)
			}
		})
		all.Wait()
	})
}
