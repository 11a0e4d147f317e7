package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/sluice-limiter/sluice/engine"
)

// explain tells what would happen to a request and why, and spends nothing.
func (h *handler) explain(w http.ResponseWriter, r *http.Request) {
	h.one(w, r, func(ctx context.Context, request engine.Request) *Problem {
		x, err := h.backend.Engine().Explain(ctx, request)
		if err != nil {
			return undecided(err)
		}
		h.annotate(r, &x.Decision)
		answer(w, ExplanationOf(x))
		return nil
	})
}

// ExplanationOf is an explanation as the API tells it.
func ExplanationOf(x *engine.Explanation) Explanation {
	e := Explanation{Decision: DecisionOf(&x.Decision), Path: x.Path, Calls: x.Calls, Rules: make([]RuleExplanation, len(x.Rules))}
	for i := range x.Rules {
		r := &x.Rules[i]
		e.Rules[i] = RuleExplanation{
			Rule: r.Rule, Matches: r.Matches, Why: r.Why, Key: strings.TrimPrefix(r.Key, r.Rule+"|"), Mode: r.Mode, Cost: r.Cost,
			Limits: make([]LimitExplanation, len(r.Limits)),
		}
		for j := range r.Limits {
			e.Rules[i].Limits[j] = limitExplanation(&r.Limits[j])
		}
	}
	return e
}

func limitExplanation(l *engine.LimitExplanation) LimitExplanation {
	return LimitExplanation{
		Name:         l.Name,
		Limit:        l.Limit.String(),
		Scope:        l.Scope,
		Candidate:    l.Candidate,
		Allowed:      l.Allowed,
		Reason:       l.Reason.String(),
		Remaining:    l.Remaining,
		InFlight:     l.InFlight,
		RetryAfterMS: milliseconds(l.RetryAfter),
		ResetAfterMS: milliseconds(l.ResetAfter),
		WaitMS:       milliseconds(l.Wait),
		Degraded:     l.Degraded,
	}
}
