package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuckRedis hangs in its first calls, whatever their context, and answers all
// others at once.
type stuckRedis struct {
	slowRedis
	stuck atomic.Int64 // calls that will hang
}

func (s *stuckRedis) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	if s.stuck.Add(-1) >= 0 {
		time.Sleep(5 * time.Second)
		return nil, errors.New("timeout")
	}
	return s.slowRedis.EvalSha(ctx, sha, keys, args)
}

// TestHungCallsDoNotStopOthers: calls that hang take their places and their riders, and
// no more.
func TestHungCallsDoNotStopOthers(t *testing.T) {
	for _, stuck := range []int64{4, 16, 20} {
		synctest.Test(t, func(t *testing.T) {
			redis := &stuckRedis{slowRedis: slowRedis{delay: 5 * time.Millisecond}}
			redis.stuck.Store(stuck)
			s, err := New(redis)
			if err != nil {
				t.Fatal(err)
			}
			var ok, failed atomic.Int64
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					for begin := time.Now(); time.Since(begin) < 5*time.Second; {
						ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
						if _, err := ask(ctx, s, "k"); err != nil {
							failed.Add(1)
						} else {
							ok.Add(1)
						}
						cancel()
					}
				})
			}
			all.Wait()
			time.Sleep(time.Minute) // what hangs comes to its end
			if failed.Load() > stuck*mostRide || ok.Load() < 5_000 {
				t.Errorf("%d stuck: %d were answered, %d failed", stuck, ok.Load(), failed.Load())
			}
		})
	}
}

// TestHungCallsDoNotKeepTheWaiting: who waits while all calls hang is sent after a while,
// even if nobody comes by who would notice.
func TestHungCallsDoNotKeepTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &stuckRedis{slowRedis: slowRedis{delay: time.Millisecond}}
		redis.stuck.Store(aloneMost + fewCalls)
		s := openSlow(t, &redis.slowRedis)
		s.wire.scripter = redis
		var all sync.WaitGroup
		for range aloneMost + fewCalls*mostRide {
			all.Go(func() { _, _ = ask(t.Context(), s, "k") })
		}
		synctest.Wait()
		for range 3 * mostRide {
			all.Go(func() {
				begin := time.Now()
				_, err := ask(t.Context(), s, "k")
				if took := time.Since(begin); err != nil || took > 2*slowCall*time.Microsecond {
					t.Errorf("answered after %v: %v", took, err)
				}
			})
		}
		all.Wait()
	})
}

// TestLoneCallsAreBounded: over all slots of a cluster only so many callers are in
// the hands of the client, where their context may not count; the others leave.
func TestLoneCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &slowRedis{delay: time.Minute, deaf: true}
		s := openSlow(t, redis, Cluster())
		var late atomic.Int64
		var all sync.WaitGroup
		for i := range 2000 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				begin := time.Now()
				if _, err := ask(ctx, s, fmt.Sprint("key ", i)); time.Since(begin) > 50*time.Millisecond || err == nil {
					late.Add(1)
				}
			})
		}
		all.Wait()
		if got := late.Load(); got != aloneAll {
			t.Errorf("%d callers were kept, want %d", got, aloneAll)
		}
		time.Sleep(2 * time.Minute)
	})
}

// forgetful is a server that has forgotten its scripts.
type forgetful struct {
	slowRedis
	knows atomic.Bool
	evals atomic.Int64
}

func (f *forgetful) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	if !f.knows.Load() {
		time.Sleep(f.delay)
		return nil, errors.New("NOSCRIPT No matching script.")
	}
	return f.slowRedis.EvalSha(ctx, sha, keys, args)
}

func (f *forgetful) Eval(ctx context.Context, _ string, keys, args []string) ([]int64, error) {
	f.evals.Add(1)
	reply, err := f.slowRedis.EvalSha(ctx, "", keys, args)
	f.knows.Store(true)
	return reply, err
}

// TestOneCallerLoadsTheScript: of many who learn that the server has forgotten it,
// one sends it, and nothing is decided twice.
func TestOneCallerLoadsTheScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := &forgetful{slowRedis: slowRedis{delay: time.Millisecond}}
		s, err := New(redis)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			redis.knows.Store(false)
			before := redis.decisions()
			var all sync.WaitGroup
			for range 300 {
				all.Go(func() {
					if _, err := ask(t.Context(), s, "k"); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if n := redis.evals.Swap(0); n != 1 {
				t.Errorf("the script was sent %d times", n)
			}
			if n := redis.decisions() - before; n != 300 {
				t.Errorf("%d decisions, want 300", n)
			}
		}
	})
}

// TestQueueIsBounded: more than the queue holds get an error at once.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSlow(t, &slowRedis{delay: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, n := range []int{aloneMost + fewCalls*mostRide, mostWait} { // on the way, and in the queue
			for range n {
				all.Go(func() { _, _ = ask(ctx, s, "k") })
			}
			synctest.Wait()
		}
		if _, err := ask(ctx, s, "k"); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v, want ErrBusy", err)
		}
		cancel()
		all.Wait()
		time.Sleep(time.Minute) // what had been sent when they left comes to its end
	})
}
