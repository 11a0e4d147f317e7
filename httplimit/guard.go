package httplimit

import (
	"context"
	"errors"
	"net/http"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store"
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
	held    interface{ Leave() } // what is to be left when the request is over; nil: nothing
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.config.isFree(r) {
		g.next.ServeHTTP(w, r)
		return
	}
	var a answer
	err := g.decide(r, &a)
	if err != nil && !g.fault(&a, err) {
		if g.undecided(w, r, err) {
			g.next.ServeHTTP(w, r)
		}
		return
	}
	if a.held != nil {
		defer a.held.Leave() // also if the handler panics
	}
	if g.config.decided != nil {
		g.config.decided(r, a.Decision)
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

// decide fills in the answer, which is too big to be handed around.
func (g *guard) decide(r *http.Request, a *answer) error {
	if g.rules != nil {
		return g.rules.decide(r, a)
	}
	return g.keys.decide(r, a)
}

// fault turns an error that the request itself has caused into a refusal. Such a one
// must never count as a failure of the store, which may let requests pass.
func (g *guard) fault(a *answer, err error) bool {
	for _, f := range faults {
		if errors.Is(err, f.err) {
			*a = answer{}
			a.Reason = f.reason
			return true
		}
	}
	return false
}

// faults are those of the input, and why such a request is refused.
var faults = [...]struct {
	err    error
	reason sluice.Reason
}{
	{store.ErrKey, sluice.MissingKey},
	{store.ErrCost, sluice.Never},
	{store.ErrTooMany, sluice.Unavailable}, // limits for the store to decide at once
	{store.ErrOp, sluice.Unavailable},
	{store.ErrID, sluice.Unavailable},
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
