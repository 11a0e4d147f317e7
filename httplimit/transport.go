package httplimit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
)

// Transport limits the calls that go through next, http.DefaultTransport if that is
// nil: by [PerHost], by [OutgoingRules], or only by what servers answer. A server that
// says with Retry-After or RateLimit that it has had enough is not called until then.
//
// A call waits for its turn as long as its context allows, or as [Wait] says, and
// fails at once if that is not long enough: with a *sluice.LimitedError or a
// *[HeldError], both of which match sluice.ErrLimited.
func Transport(next http.RoundTripper, opts ...TransportOption) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	t := &transport{next: next, holds: newHolds(), wait: -1, maxHold: 5 * time.Minute}
	for _, o := range opts {
		o.applyTransport(t)
	}
	return t
}

// TransportOption sets up a [Transport].
type TransportOption interface{ applyTransport(*transport) }

type transportOption func(*transport)

func (o transportOption) applyTransport(t *transport) { o(t) }

func (o waitOption) applyTransport(t *transport) { t.wait = max(0, time.Duration(o)) }

// PerHost limits calls by keyed, with the host in lower case and with its port as the
// key: api.example.com:443.
func PerHost(keyed *sluice.Keyed) TransportOption {
	return transportOption(func(t *transport) { t.keyed = keyed })
}

// OutgoingRules limits calls by rules: method, host, path, query and header are those
// of the call, and it waits as long as its rules say. For limits of concurrency it is in
// flight until the body of the answer is read to its end or closed.
func OutgoingRules(e *engine.Engine) TransportOption {
	return transportOption(func(t *transport) { t.rules = e })
}

// MaxHold is for how long a server can keep calls back at most, whatever it asks for;
// five minutes if not given, and 0 means that its answers are not looked at.
func MaxHold(longest time.Duration) TransportOption {
	return transportOption(func(t *transport) { t.maxHold = max(0, longest) })
}

type transport struct {
	next    http.RoundTripper
	keyed   *sluice.Keyed
	rules   *engine.Engine
	holds   *holds
	wait    time.Duration // at most; negative: as long as the context allows
	maxHold time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL == nil {
		return t.next.RoundTrip(r) // which knows what to say
	}
	host := hostOf(r)
	in, err := t.admit(r, host)
	if err != nil {
		in.Leave()
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper has to, also if it fails
		}
		return nil, err
	}
	res, err := t.call(r, in)
	if err == nil && t.maxHold > 0 {
		if hold := min(holdOf(res, t.holds.clock.Time(t.holds.clock.Now())), t.maxHold); hold > 0 {
			t.holds.add(host, hold)
		}
	}
	return res, err
}

// call makes a call that was admitted, which leaves when it is over.
func (t *transport) call(r *http.Request, in engine.Entry) (res *http.Response, err error) {
	if !in.Holds() {
		return t.next.RoundTrip(r)
	}
	answered := false
	defer func() {
		if !answered { // also after a panic
			in.Leave()
		}
	}()
	if res, err = t.next.RoundTrip(r); err == nil {
		leaveAfter(r.Context(), res, in)
		answered = true
	}
	return res, err
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (t *transport) CloseIdleConnections() {
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// admit returns when the call may be made. While it waits for a limit, another answer
// may ask to hold back.
func (t *transport) admit(r *http.Request, host string) (in engine.Entry, err error) {
	ctx := r.Context()
	if t.wait > 0 {
		limited, cancel := context.WithTimeout(ctx, t.wait)
		defer cancel()
		ctx = limited
	}
	err = t.holdBack(ctx, host)
	if err == nil {
		in, err = t.limit(ctx, r, host)
	}
	if err == nil {
		err = t.holdBack(ctx, host)
	}
	if ctx.Err() != nil && r.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded) { // our own, not that of a store
		err = fmt.Errorf("httplimit: call to %.64q: its turn did not come within %v: %w", host, t.wait, sluice.ErrLimited)
	}
	return in, err
}

// holdBack waits until the server may be called.
func (t *transport) holdBack(ctx context.Context, host string) error {
	for {
		left := t.holds.left(host)
		if left <= 0 {
			return ctx.Err()
		}
		if deadline, ok := ctx.Deadline(); t.wait == 0 || ok && time.Until(deadline) < left {
			return &HeldError{Host: host, RetryAfter: left}
		}
		if err := clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

// limit waits until the limits admit the call. What it holds is to be left also after an
// error.
func (t *transport) limit(ctx context.Context, r *http.Request, host string) (in engine.Entry, err error) {
	if t.rules != nil {
		if in, err = t.askRules(ctx, r); err != nil {
			return in, err
		}
	}
	if t.keyed == nil {
		return in, nil
	}
	if t.wait != 0 {
		return in, t.keyed.Wait(ctx, host)
	}
	d, err := t.keyed.Allow(ctx, host)
	if err == nil && !d.Allowed {
		err = &sluice.LimitedError{Key: host, Decision: d}
	}
	return in, err
}

func (t *transport) askRules(ctx context.Context, r *http.Request) (engine.Entry, error) {
	request := requestOf(r)
	request.Host = hostOf(r)
	in, err := t.decide(ctx, request)
	switch d := &in.Decision; {
	case err != nil:
		return in, err
	case d.Reason == sluice.Ambiguous, d.Reason == sluice.MissingKey, d.Reason == sluice.NoRule:
		return in, &RefusedError{Decision: *d}
	case !d.Allowed:
		return in, &sluice.LimitedError{Key: request.Host, Decision: d.Decision}
	}
	return in, nil
}

// decide asks the rules. A call that never waits gives back a place in the future.
func (t *transport) decide(ctx context.Context, request engine.Request) (engine.Entry, error) {
	if t.wait != 0 {
		return t.rules.EnterWait(ctx, request)
	}
	in, err := t.rules.Enter(ctx, request)
	if err == nil && in.Allowed && in.Wait() > 0 {
		err = fmt.Errorf("httplimit: call to %.64q: its turn comes in %v: %w", request.Host, in.Wait(), sluice.ErrLimited)
		_ = t.rules.Refund(ctx, request, costOf(&request, t.rules.Set())) // it stays taken if the store cannot be reached
	}
	return in, err
}

// costOf returns what all rules have charged at least.
func costOf(r *engine.Request, set *rule.Set) int64 {
	var m rule.Matches
	set.Match(r, &m)
	cost := int64(math.MaxInt64)
	for i := range m.Hits {
		cost = min(cost, m.Hits[i].Cost)
	}
	return cost
}

// RefusedError is the error of a call that rules refuse for another reason than a
// limit: none admits it, or it cannot be told which do.
type RefusedError struct{ Decision engine.Decision }

func (e *RefusedError) Error() string {
	return "httplimit: call refused by rules: " + strings.ReplaceAll(e.Decision.Reason.String(), "_", " ")
}

// Is makes errors.Is(err, sluice.ErrLimited) true.
func (e *RefusedError) Is(target error) bool { return target == sluice.ErrLimited }

// hostOf returns the server that a call goes to, always written the same way.
func hostOf(r *http.Request) string {
	host, port := strings.ToLower(strings.TrimSuffix(r.URL.Hostname(), ".")), r.URL.Port()
	if port == "" {
		port = "443"
		if r.URL.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(host, port)
}
