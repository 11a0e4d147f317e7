package sluicegrpc_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

func oneAtATime(t testing.TB, more ...rule.Rule) *engine.Engine {
	t.Helper()
	calls := rule.Rule{Name: "calls", Limits: []rule.Limit{{Limit: rule.Concurrency(1)}}}
	return newEngine(t, nil, rule.Config{Rules: append([]rule.Rule{calls}, more...)})
}

func wantFlying(t testing.TB, e *engine.Engine, when string, want int64) {
	t.Helper()
	synctest.Wait()
	x, err := e.Explain(context.Background(), engine.Request{})
	if err != nil || x.Rules[0].Limits[0].InFlight != want {
		t.Errorf("%s: %v, in flight: %+v, want %d", when, err, x.Rules[0].Limits, want)
	}
}

// TestServerHolds: a call is in flight until its handler returns, and a stream until it
// ends, however many messages it has and however it ends.
func TestServerHolds(t *testing.T) {
	for _, perMessage := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := oneAtATime(t, rule.Rule{Name: "messages", Limits: []rule.Limit{{Limit: sluice.PerHour(7)}}})
			var opts []sluicegrpc.Option
			if perMessage {
				opts = append(opts, sluicegrpc.PerMessage())
			}
			w := newWorld(t, sluicegrpc.Rules(e, opts...))
			c := w.client(t, "192.0.2.1:1")
			wantCode(t, call(t, c), codes.OK)
			wantFlying(t, e, "after a call", 0)
			stream, err := c.FullDuplexCall(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := stream.Send(new(testpb.StreamingOutputCallRequest)); err != nil {
					t.Fatal(err)
				}
				if _, err := stream.Recv(); err != nil {
					t.Fatal(err)
				}
			}
			wantFlying(t, e, "in a stream", 1)
			refused := call(t, c)
			wantCode(t, refused, codes.ResourceExhausted)
			if retry, _ := detailsOf(refused); retry != nil {
				t.Errorf("told when to come back: %v", retry)
			}
			_ = stream.CloseSend()
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			wantFlying(t, e, "after the stream", 0)
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := c.FullDuplexCall(ctx); err != nil {
				t.Fatal(err)
			}
			wantFlying(t, e, "in another", 1)
			cancel()
			wantFlying(t, e, "after its client has gone", 0)
		})
	}
}

// TestClientHolds: the same on the other side, for all kinds of streams.
func TestClientHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := oneAtATime(t)
		limit := sluicegrpc.Rules(e)
		w := newWorld(t, nil)
		c := w.client(t, "192.0.2.1:1", grpc.WithUnaryInterceptor(limit.UnaryClient), grpc.WithStreamInterceptor(limit.StreamClient))
		wantCode(t, call(t, c), codes.OK)
		wantFlying(t, e, "after a call", 0)
		many, err := c.StreamingOutputCall(t.Context(), new(testpb.StreamingOutputCallRequest))
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, call(t, c), codes.ResourceExhausted)
		for err == nil {
			wantFlying(t, e, "in a stream", 1)
			_, err = many.Recv()
		}
		wantFlying(t, e, "after a stream", 0)
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := c.FullDuplexCall(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		wantFlying(t, e, "after a stream whose context has ended", 0)
		upload, err := c.StreamingInputCall(t.Context()) // the service does not have it
		if err != nil {
			t.Fatal(err)
		}
		wantFlying(t, e, "in an upload", 1)
		if _, err := upload.CloseAndRecv(); err == nil {
			t.Error("the service has it")
		}
		wantFlying(t, e, "after an upload", 0)
	})
}

// TestClientHoldsNothing: a stream that does not come about holds nothing, whoever is to
// blame.
func TestClientHoldsNothing(t *testing.T) {
	e := oneAtATime(t)
	limit := sluicegrpc.Rules(e)
	cc, err := grpc.NewClient("passthrough:///nobody", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	for name, streamer := range map[string]grpc.Streamer{
		"refused": func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
			return nil, io.ErrUnexpectedEOF
		},
		"panic": func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
			panic("streamer")
		},
	} {
		func() {
			defer func() { _ = recover() }()
			if _, err := limit.StreamClient(t.Context(), new(grpc.StreamDesc), cc, "/a/b", streamer); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v", name, err)
			}
		}()
		if x, err := e.Explain(t.Context(), engine.Request{}); err != nil || x.Rules[0].Limits[0].InFlight != 0 {
			t.Errorf("%s: %v, in flight: %+v", name, err, x.Rules[0].Limits)
		}
	}
}
