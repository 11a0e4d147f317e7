package rls

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/store"
)

// Options sets up a Service.
type Options struct {
	Engine *engine.Engine
	Tree   func() *envoy.Tree // the descriptors in force; nil, or what it returns: none

	// Overrides opens where limits that stand in a request are kept; it is called when the
	// first such request comes. Nil: in this process.
	Overrides func() (store.Store, error)
	Zone      string           // of days, weeks, months and years of those; empty means UTC
	Now       func() time.Time // the clock of those; needed with Overrides

	Headers  Headers // what Envoy adds to responses
	Metadata bool    // answers have dynamic metadata
	Quota    bool    // every descriptor is in quota mode

	// LateCosts says that descriptors that all bring their own costs tell what is used
	// already: see spendLate.
	LateCosts bool

	Places  Places               // bounds what is worked on at the same time; nil: no bound
	Observe func(took float64)   // is told how long a decision took, in seconds; may be nil
	Clock   func() time.Duration // since any instant; needed by Observe
}

// Places bounds how many requests are worked on.
type Places interface {
	Enter() bool // who gets true has to Leave
	Leave()
}

// Headers are the names of the response header fields with the tightest limit, how much
// of it is left, and in how many seconds it is whole again. Empty: there are none.
type Headers struct{ Limit, Remaining, Reset string }

// Service answers ShouldRateLimit. It is safe for concurrent use.
type Service struct {
	pb.UnimplementedRateLimitServiceServer
	options   Options
	calls     sync.Pool // of *call
	overrides overrides
}

// New returns a service.
func New(o Options) *Service {
	if o.Tree == nil {
		o.Tree = func() *envoy.Tree { return nil }
	}
	s := &Service{options: o}
	s.overrides.open, s.overrides.now = o.Overrides, o.Now
	s.calls.New = func() any { return new(call) }
	return s
}

// errBusy is for calls that are too many. Envoy does then what its failure_mode_deny says,
// as if there were no server; RESOURCE_EXHAUSTED would be no different to it, but other
// clients take that for a limit.
var errBusy = status.Error(codes.Unavailable, "this server has more requests than it takes: try again, or raise limits.in_flight")

// ShouldRateLimit implements the service.
func (s *Service) ShouldRateLimit(ctx context.Context, r *pb.RateLimitRequest) (*pb.RateLimitResponse, error) {
	if places := s.options.Places; places != nil {
		if !places.Enter() {
			return nil, errBusy
		}
		defer places.Leave()
	}
	if s.options.Observe != nil {
		start := s.options.Clock()
		defer func() { s.options.Observe((s.options.Clock() - start).Seconds()) }()
	}
	c := s.calls.Get().(*call)
	defer s.end(c)
	c.service, c.request = s, r
	if err := c.decide(ctx); err != nil {
		return nil, wireError(err)
	}
	return c.reply(), nil
}

// mostKept is how many descriptors a call may have had to be used again.
const mostKept = 64

// end gives the call back to the pool, without references to the caller's memory.
func (s *Service) end(c *call) {
	if cap(c.items) > mostKept {
		return
	}
	c.request = nil
	clear(c.items)
	clear(c.entries)
	for _, attributes := range c.attributes {
		clear(attributes)
	}
	clear(c.answers)
	clear(c.checks)
	c.items, c.entries, c.requests, c.answers = c.items[:0], c.entries[:0], c.requests[:0], c.answers[:0]
	s.calls.Put(c)
}

// wireError says in the words of gRPC why a call was not decided.
func wireError(err error) error {
	var fault *faultError
	switch {
	case errors.As(err, &fault):
		return status.Error(codes.InvalidArgument, fault.reason)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	case errors.Is(err, store.ErrKey), errors.Is(err, store.ErrCost), errors.Is(err, store.ErrTooMany):
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return status.Error(codes.Unavailable, err.Error())
}

// faultError is what is wrong with a request.
type faultError struct{ reason string }

func (e *faultError) Error() string { return "rls: " + e.reason }
