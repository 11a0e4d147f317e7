package sluicegrpc

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
)

// Interceptor decides calls. Its methods are interceptors for servers and clients;
// they share the same budgets.
type Interceptor struct {
	ask        func(ctx context.Context, r *engine.Request, more bool) (engine.Entry, error) // more: it was let in, and has one more message
	fill       func(context.Context, *engine.Request)
	maxWait    time.Duration
	maxWaiters int
	perMessage bool
	address    func(*http.Request) netip.Addr
}

// ByPeer gives every peer a budget of its own: on a server every client address (IPv6
// by /64; all that come by other ways than IP share one), on a client every target.
func ByPeer(limit sluice.Limit, opts ...Option) *Interceptor {
	return Keyed(sluice.NewKeyed(limit), peerKey, opts...)
}

// Keyed decides calls by k and a key: whose budget is charged. A call with an empty
// key is refused; return a constant to let some share a budget. Metadata is written by
// the client: take keys from what authentication has proved. At a leaky bucket calls
// wait for their turn unless a limit beside it, such as a window, takes no bookings;
// elsewhere if Wait says so. It panics if k is nil.
func Keyed(k *sluice.Keyed, key func(ctx context.Context, r *engine.Request) string, opts ...Option) *Interceptor {
	i := newInterceptor(opts)
	held := httplimit.Held(k, i.maxWait, i.maxWaiters)
	i.ask = func(ctx context.Context, r *engine.Request, _ bool) (in engine.Entry, err error) {
		in.Decision.Decision, err = held(ctx, key(ctx, r), cmp.Or(r.Cost, 1))
		return in, err
	}
	return i
}

// Rules decides calls by the rules of e. Those that say wait hold a call, at most
// until its context ends. A cost that a rule takes from the response is not settled
// here: what was taken before stays. For limits of concurrency a call is in flight until
// it is over, and a stream until it ends. It panics if e is nil.
func Rules(e *engine.Engine, opts ...Option) *Interceptor {
	i := newInterceptor(opts)
	i.ask = httplimit.HeldRules(e, i.maxWait)
	return i
}

// peerKey is the key of ByPeer. A server always knows an address; a client none.
func peerKey(_ context.Context, r *engine.Request) string {
	return cmp.Or(httplimit.AddressKey(r.IP), r.Host)
}

func newInterceptor(opts []Option) *Interceptor {
	i := &Interceptor{maxWaiters: 10_000, fill: func(context.Context, *engine.Request) {}, address: httplimit.ClientAddress()}
	for _, o := range opts {
		o(i)
	}
	return i
}

// Option sets up an Interceptor.
type Option func(*Interceptor)

// Wait holds a call for up to atMost, or until its context ends, instead of refusing
// it; one whose turn cannot come in time is refused at once. With Rules it is the rules
// that say who waits, and atMost the most that any of them can say.
func Wait(atMost time.Duration) Option { return func(i *Interceptor) { i.maxWait = atMost } }

// MaxWaiters bounds how many calls wait at the same time, 10,000 if not given, of which
// one key can have a quarter. The others are refused at once. Rules have that of their
// engine.
func MaxWaiters(n int) Option { return func(i *Interceptor) { i.maxWaiters = n } }

// Fill completes what is known of a call before it is decided: user, attributes, or a
// cost other than 1. It runs once per call, also for a stream of many messages.
func Fill(f func(ctx context.Context, r *engine.Request)) Option {
	return func(i *Interceptor) { i.fill = f }
}

// PerMessage lets a server charge a stream for every message that it receives, not
// only for its start, which then pays for the first one. A refusal is the error of
// RecvMsg: a handler that returns it ends the stream, one that receives on has dropped
// the message.
func PerMessage() Option { return func(i *Interceptor) { i.perMessage = true } }

// BehindProxies lets a server find the address of the client as httplimit does it, with
// its options: httplimit.TrustProxies and the like. Without it the address of the
// connection counts, whatever the metadata say.
func BehindProxies(opts ...httplimit.AddressOption) Option {
	return func(i *Interceptor) { i.address = httplimit.ClientAddress(opts...) }
}

// admit decides a call, or one more message of a stream: without an error it goes ahead,
// and then a call has to leave.
func (i *Interceptor) admit(ctx context.Context, r *engine.Request, more bool) (engine.Entry, error) {
	if !more {
		i.fill(ctx, r)
	}
	in, err := i.ask(ctx, r, more)
	switch {
	case err == nil && in.Allowed:
		return in, nil
	case err == nil:
		return in, denial(in.Decision)
	case ctx.Err() != nil:
		return in, &refusal{status: status.FromContextError(ctx.Err()), cause: err}
	case errors.Is(err, sluice.ErrKey), errors.Is(err, sluice.ErrCost):
		return in, &refusal{status: status.New(codes.InvalidArgument, "no limit can be decided for this key or cost"), cause: err}
	}
	return in, &refusal{status: statuses[sluice.Unavailable], cause: err}
}
