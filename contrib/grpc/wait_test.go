package sluicegrpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"

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

// Who queued behind another until its time was up is refused, not timed out: its
// own deadline is far away.
func TestWaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keyed := sluice.NewKeyed(sluice.Per(1, 10*time.Second).With(sluice.SlidingLog))
		shared := func(context.Context, *engine.Request) string { return "all" }
		patient := newWorld(t, sluicegrpc.Keyed(keyed, shared, sluicegrpc.Wait(time.Hour))).client(t, "192.0.2.1:1")
		hasty := newWorld(t, sluicegrpc.Keyed(keyed, shared, sluicegrpc.Wait(5*time.Second))).client(t, "192.0.2.1:1")
		wantCode(t, call(t, patient), codes.OK)
		waited := make(chan error)
		go func() { waited <- call(t, patient) }()
		synctest.Wait()
		start := time.Now()
		err := call(t, hasty)
		wantCode(t, err, codes.ResourceExhausted)
		if retry, quota := detailsOf(err); retry != nil || quota != nil {
			t.Errorf("retry %v, quota %v: neither is known", retry, quota)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("it took %v, want 5s", took)
		}
		wantCode(t, <-waited, codes.OK)
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
