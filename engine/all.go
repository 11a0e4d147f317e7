package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// CheckAll decides several requests that are one, such as the descriptors of a call of
// Envoy: all of them may go ahead, or none, and all their limits are taken at once. The
// decision that it returns is about the whole, as that of Check is. each gets one for
// every request, in their order: what its own limits said, so that of a whole that is
// denied some still say that they would allow. It must be as long as all.
//
// A rule that several of the requests match with the same key is asked once, for the
// highest cost: it is about the whole. If no limit of a request is enforced, its
// decision tells of the one in shadow: it is allowed, and Shadow says whether it would
// not be. Observers are told once, with the outcomes of all rules and the first request.
func (e *Engine) CheckAll(ctx context.Context, all []Request, each []Decision) (d Decision, err error) {
	if len(all) == 0 {
		return Decision{}, errNone
	}
	c := e.begin(&all[0])
	c.matchAll(e, all)
	if !e.decidePlain(ctx, c) {
		e.decide(ctx, c, &everyday)
	} else if c.event.Err == nil {
		c.partition()
	}
	c.tellEach(each)
	err = e.finish(c, &d)
	return d, err
}

// PeekAll tells what CheckAll would at this instant, and spends nothing: see
// [Engine.Peek].
func (e *Engine) PeekAll(ctx context.Context, all []Request, each []Decision) (Decision, error) {
	if len(all) == 0 {
		return Decision{}, errNone
	}
	c := e.begin(&all[0])
	defer e.end(c)
	c.matchAll(e, all)
	e.decide(ctx, c, &terms{op: store.Spend, peek: true, within: forever})
	c.tellEach(each)
	return c.event.Decision, c.event.Err
}

var errNone = errors.New("engine: no request: give one or more")

// views say which hits belong to which of several requests that are one.
type views struct {
	more []rule.Matches // of the second request and those after it: they hold the keys
	hits []int          // of one request after the other
	ends []int          // where those of each end
}

// matchAll finds the rules of all requests, and puts them together.
func (c *call) matchAll(e *Engine, all []Request) {
	c.match(e)
	v := &c.views
	v.hits, v.ends = v.hits[:0], v.ends[:0]
	for i := range c.matches.Hits {
		v.hits = append(v.hits, i)
	}
	v.ends = append(v.ends, len(v.hits))
	for n := 1; n < len(all); n++ {
		if len(v.more) < n {
			v.more = append(v.more, rule.Matches{})
		}
		m := &v.more[n-1]
		c.state.set.Match(&all[n], m)
		c.matches.Ambiguous = c.matches.Ambiguous || m.Ambiguous
		if all[n].Cost < 0 {
			c.req.Cost = all[n].Cost // a fault of one is one of the whole
		}
		for i := range m.Hits {
			v.hits = append(v.hits, c.join(&m.Hits[i]))
		}
		v.ends = append(v.ends, len(v.hits))
	}
}

// join adds a hit of another request, unless it is there, and returns its number.
func (c *call) join(h *rule.Hit) int {
	for i := range c.matches.Hits {
		if o := &c.matches.Hits[i]; o.Rule == h.Rule && bytes.Equal(o.Key, h.Key) {
			o.Cost = max(o.Cost, h.Cost)
			return i
		}
	}
	c.matches.Hits = append(c.matches.Hits, *h)
	return len(c.matches.Hits) - 1
}

// tellEach makes a decision for every request.
func (c *call) tellEach(each []Decision) {
	whole, from := &c.event.Decision, 0
	asked := c.event.Err == nil && (whole.Allowed || whole.Plan() != nil)
	for i, end := range c.views.ends {
		each[i] = *whole // what no limit is to blame for is about all of them
		if asked {
			c.tell(c.views.hits[from:end], &each[i])
		}
		from = end
	}
}

// tell makes the decision on some of the hits: by their enforced limits, if there are
// any, else by those in shadow.
func (c *call) tell(hits []int, d *Decision) {
	*d = Decision{}
	d.Allowed = true
	for _, as := range [...]role{enforcing, shadowing} {
		for scope := range c.used() {
			b := &c.batches[scope]
			for i := range b.parts {
				if p := &b.parts[i]; p.role == as && b.asked && slices.Contains(hits, p.hit) {
					c.weigh(d, b, p)
				}
			}
		}
		if d.Rule == nil {
			continue
		}
		if as == shadowing {
			d.Shadow, d.Allowed, d.Reason = !d.Allowed, true, 0
		}
		return
	}
}

// weigh lets d speak of a part if that matters most so far.
func (c *call) weigh(d *Decision, b *batch, p *part) {
	var said sluice.Decision
	b.decide(p, &said)
	d.wait = max(d.wait, said.Wait())
	degraded := d.Degraded || said.Degraded
	if d.Rule == nil || said.Binds(d.Decision) {
		h := &c.matches.Hits[p.hit]
		d.Decision, d.Rule, d.LimitName = said, h.Rule, limitName(h.Limits.Names[b.scope], &said)
	}
	d.Degraded = degraded
}
