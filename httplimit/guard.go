package httplimit

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
)

// guard stands before a handler. All rungs of the ladder are one, and differ only in
// who decides.
type guard struct {
	config *config
	keys   *keys  // decides, or
	rules  *ruled // decides
	next   http.Handler
}

// answer is a decision and what goes with it.
type answer struct {
	engine.Decision
	policy  *policy // what clients are told; nil: nothing
	limit   *shown  // the limit of the policy that the decision speaks of
	pending *pending
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.config.isFree(r) {
		g.next.ServeHTTP(w, r)
		return
	}
	a, err := g.decide(r)
	if err != nil && !g.fault(&a, err) {
		if g.undecided(w, r, err) {
			g.next.ServeHTTP(w, r)
		}
		return
	}
	if a.policy != nil {
		a.policy.tell(w.Header(), len(r.Header["Origin"]) > 0, a.limit, &a.Decision.Decision)
	}
	switch {
	case !a.Allowed:
		g.refuse(w, r, &a)
	case a.pending != nil:
		g.settled(w, r, a.pending)
	default:
		g.next.ServeHTTP(w, r)
	}
}

func (g *guard) decide(r *http.Request) (answer, error) {
	if g.rules != nil {
		return g.rules.decide(r)
	}
	return g.keys.decide(r)
}

// fault turns an error that the request itself has caused into a refusal. Such a one
// must never count as a failure of the store, which may let requests pass.
func (g *guard) fault(a *answer, err error) bool {
	switch {
	case errors.Is(err, sluice.ErrKey):
		*a = answer{Decision: engine.Decision{Decision: sluice.Decision{Reason: sluice.MissingKey}}}
	case errors.Is(err, sluice.ErrCost):
		*a = answer{Decision: engine.Decision{Decision: sluice.Decision{Reason: sluice.Never}}}
	default:
		return false
	}
	return true
}

// statusClientGone is what many servers log for a client that did not wait for its
// answer. Nobody receives it.
const statusClientGone = 499

// undecided answers a request that could not be decided, or reports that it is to go
// ahead.
func (g *guard) undecided(w http.ResponseWriter, r *http.Request, err error) bool {
	ended := r.Context().Err()
	if errors.Is(ended, context.Canceled) {
		w.WriteHeader(statusClientGone)
		return false
	}
	if ended == nil && g.config.onError != nil {
		return g.config.onError(w, r, err)
	}
	var a answer
	a.Reason = sluice.Unavailable
	g.refuse(w, r, &a)
	return false
}
