package engine

import (
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// call is all the memory that a request needs. It is used again, so that a decision
// allocates nothing.
type call struct {
	req     Request
	state   *state
	shadow  bool // every rule is turned to shadow
	matches rule.Matches
	views   views    // of several requests: see CheckAll
	keys    []string // of the first hits, for stores that may keep them; made when needed
	batches [scopes]batch
	back    batch    // what is given back
	places  []uint64 // of its keys in the room, while it waits
	held    *held    // what it holds until it leaves

	reach    int // how many scopes are asked
	enforced int // how many parts are
	denials  []denial
	event    Event
}

// batch is what one store is asked in one call: first the enforced limits, then the
// others.
type batch struct {
	scope    int
	checks   []store.Check
	policies []failover.Policy // of every check, if the store is remote
	parts    []part
	enforced int  // how many of the checks are
	asked    bool // the store has answered
}

// part is what a batch asks for one rule.
type part struct {
	hit      int // its number in Matches.Hits
	plan     *sluice.Plan
	role     role
	from, to int // its checks
}

// role is what the limits of a part are there for.
type role uint8

const (
	enforcing  role = iota
	shadowing       // of a rule that is not enforced
	candidates      // measured beside
)

func newCall() any {
	c := new(call)
	for scope := range c.batches {
		c.batches[scope].scope = scope
	}
	return c
}

// begin takes a call from the pool.
func (e *Engine) begin(r *Request) *call {
	c := e.calls.Get().(*call)
	c.req = *r
	return c
}

// finish tells of the decision and puts it where the caller wants it: decisions are big,
// so they are copied only once.
func (e *Engine) finish(c *call, d *Decision) error {
	if c.held == nil {
		e.observe(c)
	} else {
		e.observeEntry(c)
	}
	*d = c.event.Decision
	err := c.event.Err
	e.end(c)
	return err
}

// mostKept is how many rules may have matched for a call to be used again.
const mostKept = 64

// end gives the call back to the pool, without references to the caller's memory.
func (e *Engine) end(c *call) {
	if cap(c.matches.Hits) > mostKept {
		return
	}
	c.req, c.state, c.held = Request{}, nil, nil
	c.event.Err, c.event.Path, c.event.Outcomes, c.event.charged = nil, "", c.event.Outcomes[:0], nil
	if len(c.keys) > 0 {
		clear(c.keys)
	}
	e.calls.Put(c)
}

// match finds the rules by which the request is decided.
func (c *call) match(e *Engine) {
	c.state, c.shadow = e.current(), e.shadow.Load()
	c.state.set.Match(&c.req, &c.matches)
}

// enforces reports whether a rule that matched can refuse.
func (c *call) enforces(h *rule.Hit) bool { return h.Enforced && !c.shadow }

// keep returns the key of a hit as a text that others may keep. Where nobody does, that
// of the hit itself will do.
func (c *call) keep(i int) string {
	hits := c.matches.Hits
	for len(c.keys) <= i {
		c.keys = append(c.keys, string(hits[len(c.keys)].Key))
	}
	return c.keys[i]
}

// clear makes the batch empty.
func (b *batch) clear() {
	b.checks, b.policies, b.parts = b.checks[:0], b.policies[:0], b.parts[:0]
	b.enforced, b.asked = 0, false
}

// next returns a place for another check. Everything that a store looks at is to be set
// in it, where it lies: a copy of what was just written bit by bit takes longer than all
// the rest.
func (b *batch) next() *store.Check {
	n := len(b.checks)
	if n == cap(b.checks) {
		b.checks = slices.Grow(b.checks, 1)
	}
	b.checks = b.checks[:n+1]
	return &b.checks[n]
}

// nextPart returns a place for another part, in which everything is to be set.
func (b *batch) nextPart() *part {
	n := len(b.parts)
	if n == cap(b.parts) {
		b.parts = slices.Grow(b.parts, 1)
	}
	b.parts = b.parts[:n+1]
	return &b.parts[n]
}
