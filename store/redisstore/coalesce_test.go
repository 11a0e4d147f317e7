package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// slowRedis answers token buckets after a while: it allows everything, and X is the
// number of the call.
type slowRedis struct {
	delay time.Duration
	deaf  bool // does not look at its context
	err   error

	mu    sync.Mutex
	calls []int // decisions in each
	now   int   // calls on the way
	most  int   // most of them at once
}

func (s *slowRedis) EvalSha(ctx context.Context, _ string, _, args []string) ([]int64, error) {
	n := requestsIn(args[0])
	s.mu.Lock()
	s.calls = append(s.calls, n)
	call := int64(len(s.calls))
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	done := ctx.Done()
	if s.deaf {
		done = nil
	}
	var err error
	select {
	case <-time.After(s.delay):
		err = s.err
	case <-done:
		err = ctx.Err()
	}
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	reply := []int64{1}
	for range n {
		reply = append(reply, flagAllowed, call, 0)
	}
	return reply, nil
}

func (s *slowRedis) Eval(context.Context, string, []string, []string) ([]int64, error) {
	return nil, errors.New("not in this test")
}

func (s *slowRedis) decisions() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.calls {
		sum += n
	}
	return sum
}

var testBucket = func() *algo.Spec {
	p, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 10})
	if err != nil {
		panic(err)
	}
	return p
}()

func openSlow(t *testing.T, s *slowRedis, options ...Option) *Store {
	t.Helper()
	st, err := New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func ask(ctx context.Context, s *Store, key string) (store.Check, error) {
	checks := []store.Check{{Key: key, Spec: testBucket, Cost: 1}}
	err := s.Take(ctx, store.Spend, checks)
	return checks[0], err
}

// TestLoneDecisionsGoAtOnce: a few callers never wait for each other.
func TestLoneDecisionsGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: time.Millisecond}
		s := openSlow(t, redis)
		start := time.Now()
		var all sync.WaitGroup
		for i := range aloneMost {
			all.Go(func() {
				if _, err := ask(t.Context(), s, fmt.Sprint("k", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took != time.Millisecond || len(redis.calls) != aloneMost {
			t.Errorf("%d decisions took %v in %d calls", aloneMost, took, len(redis.calls))
		}
	})
}

// TestManyRideTogether: beyond a few, decisions share calls, few at a time, and
// every caller gets an answer.
func TestManyRideTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: time.Millisecond}
		s := openSlow(t, redis)
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() {
				for range 4 {
					c, err := ask(t.Context(), s, fmt.Sprint("k", i))
					if err != nil || !c.Verdict.Allowed || c.Verdict.X == 0 {
						t.Errorf("%+v, %v", c.Verdict, err)
					}
				}
			})
		}
		all.Wait()
		if got := redis.decisions(); got != 2000 {
			t.Errorf("%d decisions were sent, want 2000", got)
		}
		if len(redis.calls) > 2000/20 || redis.most > aloneMost+fewCalls {
			t.Errorf("%d calls, %d at once", len(redis.calls), redis.most)
		}
		for _, n := range redis.calls {
			if n > mostRide {
				t.Errorf("%d decisions in one call", n)
			}
		}
	})
}

// TestCallersMayLeave: a caller in the queue leaves when its context ends, even if
// the client does not look at contexts; what was not sent by then is not sent.
func TestCallersMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: time.Minute, deaf: true}
		s := openSlow(t, redis)
		var all sync.WaitGroup
		const busy = aloneMost + fewCalls*mostRide // then no call is free
		for range busy {
			all.Go(func() { _, _ = ask(context.Background(), s, "k") })
		}
		synctest.Wait()
		for range 100 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				start := time.Now()
				_, err := ask(ctx, s, "k")
				if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 20*time.Millisecond {
					t.Errorf("left after %v: %v", took, err)
				}
			})
		}
		all.Wait()
		if got := redis.decisions(); got != busy {
			t.Errorf("%d decisions were sent, want %d", got, busy)
		}
		if _, err := ask(t.Context(), s, "k"); err != nil {
			t.Errorf("after all that: %v", err)
		}
	})
}

// TestRidersDoNotOutliveTheirDeadlines: a call whose riders have all gone ends.
func TestRidersDoNotOutliveTheirDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: 100 * time.Millisecond}
		s := openSlow(t, redis)
		var all sync.WaitGroup
		for range aloneMost {
			all.Go(func() { _, _ = ask(context.Background(), s, "k") })
		}
		synctest.Wait()
		redis.delay = time.Hour
		for range 10 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
				defer cancel()
				if _, err := ask(ctx, s, "k"); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if redis.now != 0 {
			t.Errorf("%d calls are still on the way", redis.now)
		}
	})
}

// TestErrorsReachAllRiders: what fails, fails for all whose decisions it carried.
func TestErrorsReachAllRiders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("connection reset")
		s := openSlow(t, &slowRedis{delay: time.Millisecond, err: broken})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, err := ask(t.Context(), s, "k"); !errors.Is(err, broken) {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// TestSlotsRideApart: in a cluster only what lies in one slot rides together.
func TestSlotsRideApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: time.Millisecond}
		s := openSlow(t, redis, Cluster())
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				if _, err := ask(t.Context(), s, fmt.Sprint("key ", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, n := range redis.calls {
			if n != 1 {
				t.Errorf("%d decisions of different slots in one call", n)
			}
		}
		for range 200 {
			all.Go(func() { _, _ = ask(t.Context(), s, "hot") })
		}
		all.Wait()
		if got := len(redis.calls) - 200; got > 40 {
			t.Errorf("200 decisions of one slot took %d calls", got)
		}
	})
}
