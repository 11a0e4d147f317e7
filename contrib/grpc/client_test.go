package sluicegrpc_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
)

func dialOptions(limit *sluicegrpc.Interceptor) []grpc.DialOption {
	return []grpc.DialOption{grpc.WithUnaryInterceptor(limit.UnaryClient), grpc.WithStreamInterceptor(limit.StreamClient)}
}

func TestClientFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.client(t, "192.0.2.1:1", dialOptions(sluicegrpc.ByPeer(sluice.PerMinute(2)))...)
		wantCode(t, call(t, c), codes.OK)
		if n, err := echo(t, c, 3); n != 3 || err != nil {
			t.Fatalf("%d of 3 messages, %v", n, err)
		}
		_, streamErr := echo(t, c, 1)
		for _, err := range []error{call(t, c), streamErr} {
			wantCode(t, err, codes.ResourceExhausted)
			if retry, _ := detailsOf(err); retry.GetRetryDelay().AsDuration() != 30*time.Second {
				t.Errorf("retry %v, want 30s", retry)
			}
			limited, ok := errors.AsType[*sluice.LimitedError](err)
			if !errors.Is(err, sluice.ErrLimited) || !ok || limited.Decision.RetryAfter() != 30*time.Second {
				t.Errorf("%v does not tell that this process refused", err)
			}
		}
		if w.calls.Load() != 2 {
			t.Errorf("%d calls reached the server, want 2", w.calls.Load())
		}
	})
}

// A refusal by the server is not one by this process.
func TestRemoteRefusalIsNoLocalOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerSecond(0)))
		err := call(t, w.client(t, "192.0.2.1:1", dialOptions(sluicegrpc.ByPeer(sluice.PerMinute(2)))...))
		wantCode(t, err, codes.ResourceExhausted)
		if errors.Is(err, sluice.ErrLimited) {
			t.Errorf("%v looks as if this process had refused", err)
		}
	})
}

func TestClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		c := w.client(t, "192.0.2.1:1", dialOptions(sluicegrpc.ByPeer(sluice.PerMinute(1), sluicegrpc.Wait(time.Hour)))...)
		start := time.Now()
		for range 3 {
			wantCode(t, call(t, c), codes.OK)
		}
		if took := time.Since(start); took != 2*time.Minute {
			t.Errorf("three calls took %v, want 2m", took)
		}
	})
}

func TestClientKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen engine.Request
		key := func(_ context.Context, r *engine.Request) string {
			seen = *r
			return r.Header.Get("Tenant")
		}
		w := newWorld(t, nil)
		c := w.client(t, "192.0.2.1:1", dialOptions(sluicegrpc.Keyed(sluice.NewKeyed(sluice.PerMinute(1)), key))...)
		for _, tenant := range []string{"ann", "bob"} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "tenant", tenant)
			_, err := c.EmptyCall(ctx, new(testpb.Empty))
			wantCode(t, err, codes.OK)
			_, err = c.EmptyCall(ctx, new(testpb.Empty))
			wantCode(t, err, codes.ResourceExhausted)
		}
		if seen.Host != "api.example.com:443" || seen.Path != "/grpc.testing.TestService/EmptyCall" || seen.Method != "POST" || seen.IP.IsValid() {
			t.Errorf("a call is seen as %+v", seen)
		}
		wantCode(t, call(t, c), codes.InvalidArgument) // no tenant, no key
	})
}

// What is no cost is refused, not rounded.
func TestBadCost(t *testing.T) {
	limit := sluicegrpc.ByPeer(sluice.PerMinute(1), sluicegrpc.Fill(func(_ context.Context, r *engine.Request) { r.Cost = -5 }))
	w := newWorld(t, limit)
	wantCode(t, call(t, w.client(t, "192.0.2.1:1")), codes.InvalidArgument)
}
