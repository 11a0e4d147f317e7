package sluicegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
)

// Limits that book the future and limits that are asked again wait alike.
func TestWait(t *testing.T) {
	limits := map[string]sluice.Limit{
		"books": sluice.Per(1, 10*time.Second),
		"asks":  sluice.Per(1, 10*time.Second).With(sluice.SlidingLog),
	}
	tests := []struct {
		name     string
		atMost   time.Duration
		deadline time.Duration
		code     codes.Code
		took     time.Duration
	}{
		{"in time", time.Minute, time.Minute, codes.OK, 10 * time.Second},
		{"longer than atMost", 9 * time.Second, time.Minute, codes.ResourceExhausted, 0},
		{"longer than the deadline", time.Minute, 9 * time.Second, codes.ResourceExhausted, 0},
	}
	for name, limit := range limits {
		for _, tt := range tests {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, sluicegrpc.ByPeer(limit, sluicegrpc.Wait(tt.atMost)))
					c := w.client(t, "192.0.2.1:1")
					wantCode(t, call(t, c), codes.OK)
					ctx, cancel := context.WithTimeout(t.Context(), tt.deadline)
					defer cancel()
					start := time.Now()
					_, err := c.EmptyCall(ctx, new(testpb.Empty))
					wantCode(t, err, tt.code)
					if took := time.Since(start); took != tt.took {
						t.Errorf("it took %v, want %v", took, tt.took)
					}
					if retry, _ := detailsOf(err); tt.code != codes.OK && retry.GetRetryDelay().AsDuration() <= 0 {
						t.Errorf("no RetryInfo in %v", err)
					}
				})
			})
		}
	}
}

// A caller that goes away leaves the queue, and its place is free again.
func TestWaitEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.Per(1, 10*time.Second), sluicegrpc.Wait(time.Hour)))
		c := w.client(t, "192.0.2.1:1")
		wantCode(t, call(t, c), codes.OK)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := c.EmptyCall(ctx, new(testpb.Empty))
		wantCode(t, err, codes.Canceled)
		synctest.Wait()
		start := time.Now()
		wantCode(t, call(t, c), codes.OK)
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("the next call took %v, want 9s: the place of the one that left", took)
		}
	})
}

// A client whose context ends while it waits gets the code of that.
func TestClientStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := sluicegrpc.ByPeer(sluice.PerMinute(1), sluicegrpc.Wait(time.Hour))
		c := newWorld(t, nil).client(t, "192.0.2.1:1", dialOptions(limit)...)
		wantCode(t, call(t, c), codes.OK)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := c.EmptyCall(ctx, new(testpb.Empty))
		wantCode(t, err, codes.Canceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not tell that the context has ended", err)
		}
	})
}

// Who queued behind others until its time was up is refused, not timed out: its own
// deadline is far away.
func TestWaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keyed := sluice.NewKeyed(sluice.Per(1, 10*time.Second).With(sluice.SlidingLog))
		shared := func(context.Context, *engine.Request) string { return "all" }
		patient := newWorld(t, sluicegrpc.Keyed(keyed, shared, sluicegrpc.Wait(time.Hour))).client(t, "192.0.2.1:1")
		hasty := newWorld(t, sluicegrpc.Keyed(keyed, shared, sluicegrpc.Wait(15*time.Second))).client(t, "192.0.2.1:1")
		wantCode(t, call(t, patient), codes.OK)
		waited := make(chan error)
		for range 2 {
			go func() { waited <- call(t, patient) }()
			synctest.Wait()
		}
		start := time.Now()
		err := call(t, hasty)
		wantCode(t, err, codes.ResourceExhausted)
		if _, quota := detailsOf(err); len(quota.GetViolations()) != 1 {
			t.Errorf("quota %v: it is known which limit it was", quota)
		}
		if took := time.Since(start); took != 15*time.Second {
			t.Errorf("it took %v, want 15s", took)
		}
		wantCode(t, <-waited, codes.OK)
		wantCode(t, <-waited, codes.OK)
	})
}

// Not more calls wait than may, and those of one key do not take all places.
func TestMaxWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []sluice.Limit{sluice.PerMinute(1), sluice.PerMinute(1).With(sluice.FixedWindow)} {
			w := newWorld(t, sluicegrpc.ByPeer(limit, sluicegrpc.Wait(time.Hour), sluicegrpc.MaxWaiters(20)))
			ctx, cancel := context.WithCancel(t.Context())
			var refused atomic.Int64
			var all sync.WaitGroup
			ask := func(c testpb.TestServiceClient, n int) {
				wantCode(t, call(t, c), codes.OK)
				for range n {
					all.Go(func() {
						if _, err := c.EmptyCall(ctx, new(testpb.Empty)); status.Code(err) == codes.ResourceExhausted {
							refused.Add(1)
						}
					})
				}
				synctest.Wait()
			}
			for i, want := range []int64{5, 0, 2} { // a quarter is five; after four clients all places are taken
				refused.Store(0)
				n := []int{10, 5, 2}[i]
				for c := range []int{1, 3, 1}[i] {
					ask(w.client(t, fmt.Sprintf("192.0.%d.%d:1", i, c)), n)
				}
				if refused.Load() != want {
					t.Errorf("%v, step %d: %d refused, want %d", limit, i, refused.Load(), want)
				}
			}
			cancel()
			all.Wait()
		}
	})
}

// Nobody asks before those of its key who wait already, also if there would be enough
// for it alone.
func TestNobodyOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := sluicegrpc.Fill(func(ctx context.Context, r *engine.Request) {
			if len(metadata.ValueFromIncomingContext(ctx, "twice")) > 0 {
				r.Cost = 2
			}
		})
		c := newWorld(t, sluicegrpc.ByPeer(sluice.Per(2, 10*time.Second).With(sluice.FixedWindow), sluicegrpc.Wait(time.Hour), cost)).client(t, "192.0.2.1:1")
		wantCode(t, call(t, c), codes.OK)
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			_, err := c.EmptyCall(metadata.AppendToOutgoingContext(t.Context(), "twice", "1"), new(testpb.Empty))
			if took := time.Since(start); err != nil || took != 10*time.Second {
				t.Errorf("the first took %v: %v", took, err)
			}
		})
		synctest.Wait()
		if err, took := call(t, c), time.Since(start); err != nil || took != 20*time.Second {
			t.Errorf("the second took %v: %v", took, err)
		}
		all.Wait()
	})
}

// A leaky bucket is a queue: calls wait in it unasked.
func TestLeakyBucketHoldsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerSecond(10).With(sluice.LeakyBucket).WithBurst(5)))
		c := w.client(t, "192.0.2.1:1")
		start := time.Now()
		for range 5 {
			wantCode(t, call(t, c), codes.OK)
		}
		if took := time.Since(start); took != 400*time.Millisecond {
			t.Errorf("five calls took %v, want 400ms", took)
		}
	})
}

// A limit beside a leaky bucket does not make hours of its seconds.
func TestLeakyBucketBesideOthers(t *testing.T) {
	for beside, want := range map[string]int{"fixed_window 3/h": 1, "3/h": 3, "unlimited": 6} {
		synctest.Test(t, func(t *testing.T) {
			keyed := sluice.NewKeyed(sluice.MustParse("leaky_bucket 1/s burst=5"), sluice.WithLimits(sluice.MustParse(beside)))
			c := newWorld(t, sluicegrpc.Keyed(keyed, func(context.Context, *engine.Request) string { return "all" })).client(t, "192.0.2.1:1")
			start := time.Now()
			var passed atomic.Int64
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if call(t, c) == nil {
						passed.Add(1)
					}
				})
			}
			all.Wait()
			if took := time.Since(start); int(passed.Load()) != want || took > 5*time.Second {
				t.Errorf("beside %s: %d passed within %v, want %d within 5s", beside, passed.Load(), took, want)
			}
		})
	}
}

// meddler takes a place when somebody is denied, before that one can.
type meddler struct {
	keyed *sluice.Keyed
	done  bool
}

func (m *meddler) Observe(key string, _ int64, d sluice.Decision) {
	if !d.Allowed && !m.done {
		m.done = true
		_, _ = m.keyed.Reserve(context.Background(), key, 1)
	}
}

// Who was to wait a second for a leaky bucket does not wait half an hour, because
// somebody else has taken the last token beside it.
func TestLastTokenIsTakenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meddler{}
		m.keyed = sluice.NewKeyed(sluice.MustParse("leaky_bucket 1/s burst=5"), sluice.WithLimits(sluice.PerHour(2)), sluice.WithObserver(m))
		c := newWorld(t, sluicegrpc.Keyed(m.keyed, func(context.Context, *engine.Request) string { return "all" })).client(t, "192.0.2.1:1")
		wantCode(t, call(t, c), codes.OK)
		start := time.Now()
		wantCode(t, call(t, c), codes.ResourceExhausted)
		if took := time.Since(start); took != 0 || !m.done {
			t.Errorf("refused after %v", took)
		}
	})
}
