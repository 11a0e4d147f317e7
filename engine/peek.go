package engine

import (
	"context"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Peek tells what Check would at this instant, and spends nothing. It is exact: the
// stores decide r as they would for Check, beside a limit that refuses everything, so
// that nothing is charged. So Remaining is what would be left after r. No observer is
// told.
func (e *Engine) Peek(ctx context.Context, r Request) (Decision, error) {
	c := e.begin(&r)
	defer e.end(c)
	c.match(e)
	e.decide(ctx, c, &terms{op: store.Spend, peek: true, within: forever})
	return c.event.Decision, c.event.Err
}

// stop is a limit that refuses everything. Since a decision is all or nothing, a check
// of it beside others keeps them from being spent, while each still says exactly what
// it would have.
var stop, _ = algo.Compile(algo.Spec{Kind: algo.Ban})

// halt adds a stop for every key and store, so that nothing is spent: for every key,
// because a store that spreads keys asks about each place by itself.
func (c *call) halt(p *places) {
	for i := range c.matches.Hits {
		h := &c.matches.Hits[i]
		for scope := range c.batches[:rates] { // of permits, who only looks takes none
			if h.Denied || h.Limits.Enforce[scope] == nil && h.Limits.Candidate[scope] == nil {
				continue
			}
			b, check := &c.batches[scope], c.batches[scope].next()
			*check = store.Check{Key: h.KeyText(), Spec: stop, Cost: 1}
			if p.far(scope) {
				check.Key = c.keep(i)
				b.policies = append(b.policies, policyOf(h.Rule))
			}
		}
	}
}
