package httplimit

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
)

// ruled decides by an engine.
type ruled struct {
	config   *config
	engine   *engine.Engine
	policies policies
	traits   atomic.Pointer[traits]
}

// traits are what the rules in force make necessary.
type traits struct {
	set       *rule.Set
	waits     bool // a rule lets requests wait
	responses bool // a rule has a cost that the response tells
	holds     bool // a rule counts who is in flight
}

func newRuled(e *engine.Engine, c *config) *ruled {
	return &ruled{config: c, engine: e, policies: policies{engine: e, dialect: c.dialect}}
}

func (d *ruled) decide(r *http.Request, a *answer) (err error) {
	request := requestOf(r)
	request.IP = d.config.source.client(r)
	if d.config.user != nil {
		request.User = d.config.user(r)
	}
	if d.config.attributes != nil {
		request.Attributes = d.config.attributes(r)
	}
	if d.config.costBy != nil {
		request.Cost = d.config.costBy(r)
	}
	switch t := d.current(); {
	case t.responses:
		err = d.reserve(r.Context(), request, t, a)
	case t.holds:
		err = d.enter(r.Context(), request, a)
	case t.waits:
		a.Decision, err = d.engine.Wait(r.Context(), request)
	default:
		a.Decision, err = d.engine.Check(r.Context(), request)
		if err == nil && (a.Waits || a.Decision.Wait() > 0) {
			err = d.catchUp(r.Context(), request, a)
		}
	}
	if err == nil {
		a.policy, a.limit = d.policies.find(&a.Decision)
	}
	return err
}

// catchUp is for a request that was decided by rules which let it wait, and came into
// force this moment.
func (d *ruled) catchUp(ctx context.Context, request engine.Request, a *answer) (err error) {
	if a.Allowed {
		return clock.Sleep(ctx, a.Decision.Wait())
	}
	a.Decision, err = d.engine.Wait(ctx, request)
	return err
}

// requestOf is what rules look at, as far as the request tells. A handler further out
// that has cut something off the path has its way.
func requestOf(r *http.Request) engine.Request {
	return engine.Request{
		Method: r.Method,
		Host:   r.Host,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
		Header: r.Header,
		Length: r.ContentLength,
	}
}

// current returns the traits of the rules in force.
func (d *ruled) current() *traits {
	set, t := d.engine.Set(), d.traits.Load()
	if t != nil && t.set == set {
		return t
	}
	t = &traits{set: set, holds: set.HasConcurrency() && !d.config.subrequests}
	for _, c := range set.Rules() {
		t.waits = t.waits || c.Wait > 0
		t.responses = t.responses || c.Cost.Response != ""
	}
	d.traits.Store(t)
	return t
}

// reserve decides requests that may have to be settled by a header of the response.
func (d *ruled) reserve(ctx context.Context, request engine.Request, t *traits, a *answer) (err error) {
	p := newPending(&request, t.set)
	switch {
	case p == nil && t.holds:
		return d.enter(ctx, request, a)
	case p == nil:
		a.Decision, err = d.engine.Wait(ctx, request)
		return err
	}
	reserve := d.engine.WaitReserve
	if t.holds {
		reserve = d.engine.EnterReserve
	}
	reservation, err := reserve(ctx, request)
	if err != nil {
		return err
	}
	if a.Decision = reservation.Decision; a.Allowed {
		p.commit, a.pending, a.held = reservation.Commit, p, reservation
	}
	return nil
}

// enter decides requests that may have to be let out again.
func (d *ruled) enter(ctx context.Context, request engine.Request, a *answer) error {
	entry, err := d.engine.EnterWait(ctx, request)
	if err != nil {
		return err
	}
	if a.Decision = entry.Decision; entry.Holds() {
		a.held = entry
	}
	return nil
}
