package sluicegrpc_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
)

func TestRefusalSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(2)))
		c := w.client(t, "192.0.2.1:4711")
		for range 2 {
			wantCode(t, call(t, c), codes.OK)
		}
		time.Sleep(100 * time.Microsecond)
		var trailer metadata.MD
		err := call(t, c, grpc.Trailer(&trailer))
		wantCode(t, err, codes.ResourceExhausted)
		if got := status.Convert(err).Message(); got != "rate limit exceeded, retry in 30 s" {
			t.Error(got)
		}
		retry, quota := detailsOf(err)
		if got := retry.GetRetryDelay().AsDuration(); got != 30*time.Second {
			t.Errorf("retry after %v, want 29.9999s rounded up to 30s", got)
		}
		if got := trailer.Get("grpc-retry-pushback-ms"); len(got) != 1 || got[0] != "30000" {
			t.Errorf("pushback %q, want 30000", got)
		}
		if v := quota.GetViolations(); len(v) != 1 || v[0].GetDescription() != "2/m" || v[0].GetSubject() != "" {
			t.Errorf("violations %v, want one of 2/m", v)
		}
		if w.calls.Load() != 2 {
			t.Errorf("%d calls reached the handler, want 2", w.calls.Load())
		}
		time.Sleep(30 * time.Second)
		wantCode(t, call(t, c), codes.OK)
	})
}

func TestBannedIsNotToldToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tests := map[string]*sluicegrpc.Interceptor{
			"calls are not admitted": sluicegrpc.ByPeer(sluice.PerSecond(0)),
			"the call costs more than the limit can ever admit": sluicegrpc.ByPeer(sluice.PerSecond(5), sluicegrpc.Fill(func(_ context.Context, r *engine.Request) {
				r.Cost = 6
			})),
		}
		for reason, limit := range tests {
			w := newWorld(t, limit)
			var trailer metadata.MD
			err := call(t, w.client(t, "192.0.2.1:1"), grpc.Trailer(&trailer))
			wantCode(t, err, codes.ResourceExhausted)
			if got := status.Convert(err).Message(); got != reason {
				t.Errorf("%q, want %q", got, reason)
			}
			if retry, quota := detailsOf(err); retry != nil || quota == nil {
				t.Errorf("%s: retry %v, quota %v", reason, retry, quota)
			}
			if got := trailer.Get("grpc-retry-pushback-ms"); len(got) != 1 || got[0] != "-1" {
				t.Errorf("%s: pushback %q, want -1", reason, got)
			}
		}
	})
}

// gRPC's own retries go by the trailer, not by their backoff.
func TestRetryPolicyHonoursPushback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(1)))
		c := w.client(t, "192.0.2.1:1", grpc.WithDefaultServiceConfig(`{"methodConfig": [{"name": [{}], "retryPolicy": {
			"maxAttempts": 2, "initialBackoff": "0.01s", "maxBackoff": "0.01s", "backoffMultiplier": 1,
			"retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]}`))
		wantCode(t, call(t, c), codes.OK)
		start := time.Now()
		wantCode(t, call(t, c), codes.OK)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the second call took %v, want exactly 1m", took)
		}
	})
}

func TestStreamIsChargedAtItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(2)))
		c := w.client(t, "192.0.2.1:1")
		if n, err := echo(t, c, 5); n != 5 || err != nil {
			t.Fatalf("%d of 5 messages, %v", n, err)
		}
		wantCode(t, call(t, c), codes.OK) // the same budget
		n, err := echo(t, c, 1)
		if n != 0 {
			t.Errorf("%d messages passed a refused stream", n)
		}
		wantCode(t, err, codes.ResourceExhausted)
		if retry, _ := detailsOf(err); retry.GetRetryDelay().AsDuration() != 30*time.Second {
			t.Errorf("retry %v, want 30s", retry)
		}
	})
}

func TestStreamIsChargedPerMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(4), sluicegrpc.PerMessage()))
		c := w.client(t, "192.0.2.1:1")
		if n, err := download(t, c); n != 3 || err != nil { // one message goes in
			t.Fatalf("%d of 3 answers, %v", n, err)
		}
		n, err := echo(t, c, 5)
		if n != 3 || w.messages.Load() != 3 {
			t.Errorf("%d messages passed and %d reached the handler, want 3: the start pays for the first", n, w.messages.Load())
		}
		wantCode(t, err, codes.ResourceExhausted)
		if retry, _ := detailsOf(err); retry.GetRetryDelay().AsDuration() != 15*time.Second {
			t.Errorf("retry %v, want 15s", retry)
		}
	})
}

// echo sends messages one by one and counts the answers.
func echo(t testing.TB, c testpb.TestServiceClient, messages int) (answers int, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.FullDuplexCall(ctx)
	if err != nil {
		return 0, err
	}
	for range messages {
		if err := stream.Send(new(testpb.StreamingOutputCallRequest)); err != nil && !errors.Is(err, io.EOF) {
			return answers, err
		}
		if _, err := stream.Recv(); err != nil {
			return answers, err
		}
		answers++
	}
	if err := stream.CloseSend(); err != nil {
		return answers, err
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		return answers, err
	}
	return answers, nil
}

func download(t testing.TB, c testpb.TestServiceClient) (answers int, err error) {
	stream, err := c.StreamingOutputCall(t.Context(), new(testpb.StreamingOutputCallRequest))
	if err != nil {
		return 0, err
	}
	for {
		switch _, err := stream.Recv(); {
		case errors.Is(err, io.EOF):
			return answers, nil
		case err != nil:
			return answers, err
		}
		answers++
	}
}
