package rls_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/server/rls"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service on a clock of its own, with a real gRPC client.
type world struct {
	t      *testing.T
	client pb.RateLimitServiceClient
	conn   *grpc.ClientConn
	engine *engine.Engine

	mu  sync.Mutex
	now time.Time
}

// start is what the clock shows first.
var start = time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// newWorld serves descriptors, and perhaps rules of our own.
func newWorld(t testing.TB, yaml string, o rls.Options, own ...rule.Rule) *world {
	t.Helper()
	w := &world{now: start}
	w.t, _ = t.(*testing.T)
	w.serve(t, w.open(t, yaml, w.memory(), o, own...), rls.ServerOptions{MaxMessage: 1 << 20, MaxStreams: 100})
	return w
}

// memory returns a store on the clock.
func (w *world) memory() store.Store { return memstore.New(memstore.WithClock(w.clock)) }

// open returns the service by descriptors, and perhaps by rules of our own, over a store.
func (w *world) open(t testing.TB, yaml string, s store.Store, o rls.Options, own ...rule.Rule) *rls.Service {
	t.Helper()
	var tree *envoy.Tree
	if yaml != "" {
		tree = parse(t, yaml, envoy.Options{Zone: o.Zone})
	}
	set, err := rule.Compile(rule.Config{Rules: append(own, tree.Rules()...)}, rule.At(start))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, s, engine.WithClock(w.clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	w.engine = e
	o.Engine, o.Tree, o.Now = e, func() *envoy.Tree { return tree }, w.clock
	if o.Overrides == nil {
		o.Overrides = func() (store.Store, error) { return s, nil }
	}
	return rls.New(o)
}

// serve starts a server and connects to it.
func (w *world) serve(t testing.TB, s *rls.Service, o rls.ServerOptions, with ...grpc.DialOption) {
	t.Helper()
	server := rls.NewServer(s, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	if len(with) == 0 {
		with = append(with, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	conn, err := grpc.NewClient(l.Addr().String(), with...)
	if err != nil {
		t.Fatal(err)
	}
	w.conn, w.client = conn, pb.NewRateLimitServiceClient(conn)
	t.Cleanup(func() {
		_ = conn.Close()
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-served
	})
}

func parse(t testing.TB, yaml string, o envoy.Options) *envoy.Tree {
	t.Helper()
	tree, err := envoy.Parse([]envoy.File{{Name: "config.yaml", Data: []byte(yaml)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// d makes a descriptor of "key=value key=value".
func d(text string) *ratelimitv3.RateLimitDescriptor {
	out := &ratelimitv3.RateLimitDescriptor{}
	for _, entry := range strings.Fields(text) {
		key, value, _ := strings.Cut(entry, "=")
		out.Entries = append(out.Entries, &ratelimitv3.RateLimitDescriptor_Entry{Key: key, Value: value})
	}
	return out
}

// hits sets what a descriptor costs by itself.
func hits(n uint64, of *ratelimitv3.RateLimitDescriptor) *ratelimitv3.RateLimitDescriptor {
	of.HitsAddend = wrapperspb.UInt64(n)
	return of
}

func refund(n uint64, of *ratelimitv3.RateLimitDescriptor) *ratelimitv3.RateLimitDescriptor {
	of.IsNegativeHits = true
	return hits(n, of)
}

func request(domain string, all ...*ratelimitv3.RateLimitDescriptor) *pb.RateLimitRequest {
	return &pb.RateLimitRequest{Domain: domain, Descriptors: all}
}

// ask sends descriptors of the domain d.
func (w *world) ask(all ...*ratelimitv3.RateLimitDescriptor) *pb.RateLimitResponse {
	w.t.Helper()
	r, err := w.client.ShouldRateLimit(context.Background(), request("d", all...))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// want checks the overall code, and the rest of each status that has a limit; -1: it has
// none.
func (w *world) want(r *pb.RateLimitResponse, ok bool, remaining ...int64) {
	w.t.Helper()
	if got := r.GetOverallCode() == pb.RateLimitResponse_OK; got != ok {
		w.t.Errorf("allowed: %v, want %v: %v", got, ok, r)
	}
	if remaining == nil {
		return
	}
	if len(r.GetStatuses()) != len(remaining) {
		w.t.Fatalf("%d statuses, want %d", len(r.GetStatuses()), len(remaining))
	}
	for i, s := range r.GetStatuses() {
		got := int64(s.GetLimitRemaining())
		if s.GetCurrentLimit() == nil {
			got = -1
		}
		if got != remaining[i] {
			w.t.Errorf("status %d: remaining %d, want %d: %v", i, got, remaining[i], s)
		}
	}
}
