package engine

import (
	"context"
	"math"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// holds reports whether a rule lets its requests wait.
func (c *call) holds(h *rule.Hit) bool { return h.Rule.Wait > 0 && !h.Denied && c.enforces(h) }

func (c *call) anyHolds() bool {
	for i := range c.matches.Hits {
		if c.holds(&c.matches.Hits[i]) {
			return true
		}
	}
	return false
}

// queue asks until the request is let through, or cannot be in time. Nobody joins a
// line before a denial, save where others stand already.
func (w *waiting) queue(ctx context.Context) {
	if h := w.busy(); h != nil {
		p := w.place(ctx, h)
		if w.hopeless(ctx, &p) {
			return
		}
		w.last = w.stand(ctx, &p) >= tooLong
	}
	w.repeat(ctx)
	if w.at.key != "" && !w.denied && w.call.event.Decision.Allowed {
		w.engine.lines.widen(&w.at)
	}
	w.leave()
}

// busy returns a rule in whose line others stand, nil if there is none.
func (w *waiting) busy() *rule.Hit {
	c := w.call
	for i := range c.matches.Hits {
		if h := &c.matches.Hits[i]; c.holds(h) && w.engine.lines.busy(h.KeyText()) {
			return h
		}
	}
	return nil
}

// hopeless decides a request at once that would have to queue and could not be let
// through in time: even if it were the first, or behind those who are there.
func (w *waiting) hopeless(ctx context.Context, p *place) bool {
	c := w.call
	w.engine.decide(ctx, c, &terms{op: store.Spend, inside: w.inside, peek: true, within: clock.Patience(ctx)})
	d := &c.event.Decision
	return c.event.Err != nil || !d.Allowed && (!d.Waits || w.engine.lines.full(p))
}

// repeat asks, and waits in the line of whoever denied.
func (w *waiting) repeat(ctx context.Context) {
	ev := &w.call.event
	for {
		if err := ctx.Err(); err != nil {
			w.left(err)
			return
		}
		w.ask(ctx, clock.Patience(ctx))
		if ev.Err != nil || !ev.Decision.Waits || w.last {
			return
		}
		p := w.place(ctx, w.denier())
		switch w.stand(ctx, &p) {
		case atOnce:
			w.denied = true
			w.engine.lines.narrow(&w.at)
			if err := clock.Sleep(ctx, ev.Decision.RetryAfter()); err != nil {
				w.left(err)
				return
			}
		case tooLong:
			return
		case tooLate:
			w.last = true
		}
		w.call.match(w.engine) // the rules may have changed meanwhile
	}
}

// denier returns the rule that denied, of several the one that takes longest.
func (w *waiting) denier() *rule.Hit {
	c := w.call
	for i := range c.matches.Hits {
		if c.matches.Hits[i].Rule == c.event.Decision.Rule {
			return &c.matches.Hits[i]
		}
	}
	return nil
}

// stand waits for the turn in a line, and leaves the one in which it stood: who holds
// no turn that it cannot use holds up nobody.
func (w *waiting) stand(ctx context.Context, p *place) turn {
	if w.at.key == p.key {
		return atOnce
	}
	w.leave()
	t := w.engine.lines.enter(ctx, p)
	if t == atOnce || t == inTurn {
		w.at, w.denied = *p, false
	}
	return t
}

// leave lets the next one ask.
func (w *waiting) leave() {
	if w.at.key != "" {
		w.engine.lines.leave(&w.at)
		w.at = place{}
	}
}

// place returns that of the request in the line of a rule.
func (w *waiting) place(ctx context.Context, h *rule.Hit) place {
	left := time.Duration(h.Rule.Wait) - w.waited()
	within := max(0, min(left.Microseconds(), clock.Patience(ctx)))
	return place{key: string(h.Key), cost: h.Cost, most: admits(h.Limits, within), patience: left}
}

// admits returns how much the limits that do not book can admit at most within some
// time, in µs: all that one of them has, whenever its period begins anew.
func admits(l *rule.Limits, within int64) int64 {
	most := int64(math.MaxInt64)
	for _, plan := range l.Enforce {
		if plan == nil || plan.Books() {
			continue
		}
		for _, spec := range plan.Specs() {
			switch spec.Kind {
			case algo.FixedWindow, algo.SlidingWindow, algo.WeightedWindow:
				most = min(most, spec.Count*(within/spec.Period+1))
			case algo.SlidingLog:
				for _, w := range spec.Windows {
					most = min(most, w.Count*(within/w.Period+1))
				}
			}
		}
	}
	return most
}
