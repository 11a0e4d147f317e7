package engine

import (
	"math"
	"sync"
	"unsafe"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/internal/topkeys"
	"github.com/sluice-limiter/sluice/rule"
)

// stripe counts for the callers of one processor, more or less. One lock is cheaper
// than an atomic addition for each number, and with it a request is counted wholly or
// not at all. Callers do not wait for it: see watch.lockAny.
type stripe struct {
	mu      sync.Mutex
	totals  totals
	rules   []ruleCounts // by the index of the rule; nil until the first request
	known   *known
	sampler topkeys.Sampler
	_       [32]byte // the next stripe is on other cache lines
}

// totals are about requests, whatever the rules.
type totals struct {
	allowed, denied, left, errors, shadow, degraded, noRule int64
}

// ruleCounts are about one rule. Nearly all requests are charged and nothing else is
// to be said of them: these add to the first two numbers only.
type ruleCounts struct {
	charged, chargedCost               int64
	allowed, undecided, denied, shadow int64 // of those not charged
	otherCost                          int64 // of those not charged
	candidate, degraded                int64
}

// known is a set of rules for who has only a rule.
type known struct {
	rules []*rule.Compiled
	names map[string]int
}

func newKnown(rules []*rule.Compiled) *known {
	k := &known{rules: rules, names: make(map[string]int, len(rules))}
	for i, r := range rules {
		k.names[r.Name] = i
	}
	return k
}

// has reports whether a rule is one of the set, and not just one with the same name.
func (k *known) has(r *rule.Compiled) bool {
	return uint(r.Index) < uint(len(k.rules)) && k.rules[r.Index] == r
}

// count adds a request. The caller holds the lock.
func (s *stripe) count(e *Event) {
	t := &s.totals
	switch {
	case e.Err != nil:
		t.countError(e.Left)
	case e.Decision.Allowed:
		t.allowed++
	default:
		t.denied++
	}
	if d := &e.Decision; d.Shadow || d.Degraded {
		t.countRare(d)
	}
	if len(e.charged) > 0 {
		s.charge(e.charged)
		return
	}
	if uncovered(e) {
		t.noRule++
	}
	for i := range e.Outcomes {
		if c := s.of(e.Outcomes[i].Rule); c != nil {
			c.count(&e.Outcomes[i])
		}
	}
}

// charge adds rules that were all charged. They are of the same set.
func (s *stripe) charge(hits []rule.Hit) {
	rules := s.rules
	if rules == nil || !s.known.has(hits[0].Rule) {
		for i := range hits {
			if c := s.of(hits[i].Rule); c != nil {
				c.charge(hits[i].Cost)
			}
		}
		return
	}
	for i := range hits {
		h := &hits[i]
		rules[h.Rule.Index].charge(h.Cost)
	}
}

// of returns the numbers of a rule. One of another set, that before a swap, or that after
// it while it is under way, is known by its name; nil if there is none.
func (s *stripe) of(r *rule.Compiled) *ruleCounts {
	if s.rules == nil {
		s.rules = make([]ruleCounts, len(s.known.rules))
	}
	if s.known.has(r) {
		return &s.rules[r.Index]
	}
	if at, ok := s.known.names[r.Name]; ok {
		return &s.rules[at]
	}
	return nil
}

func (t *totals) countError(left bool) {
	if left {
		t.left++
	} else {
		t.errors++
	}
}

func (t *totals) countRare(d *Decision) {
	if d.Shadow {
		t.shadow++
	}
	if d.Degraded {
		t.degraded++
	}
}

// count adds what a rule said.
func (c *ruleCounts) count(o *Outcome) {
	if o.Degraded {
		c.degraded++
	}
	if o.Candidate == CandidateDenies {
		c.candidate++
	}
	if o.Spent {
		c.charge(o.Cost)
		return
	}
	c.otherCost = sum(c.otherCost, o.Cost)
	switch {
	case o.Undecided:
		c.undecided++
	case o.Allowed:
		c.allowed++
	case o.Enforced:
		c.denied++
	default:
		c.shadow++
	}
}

// charge adds a request that was charged.
func (c *ruleCounts) charge(cost int64) {
	c.charged++
	c.chargedCost = sum(c.chargedCost, cost)
}

// uncovered reports whether there is no rule for a request, other than by a mistake in
// it.
func uncovered(e *Event) bool {
	return len(e.Outcomes) == 0 && len(e.charged) == 0 && e.Err == nil && e.Decision.Reason != sluice.Ambiguous
}

// move makes the stripe count by other rules. Those that keep their name keep their
// numbers. The caller holds the lock.
func (s *stripe) move(to *known) {
	if s.rules != nil {
		rules := make([]ruleCounts, len(to.rules))
		for i, r := range to.rules {
			if old, ok := s.known.names[r.Name]; ok {
				rules[i] = s.rules[old]
			}
		}
		s.rules = rules
	}
	s.known = to
}

// hint returns a number that callers on different processors hardly share, and that
// one gets again: events come from a pool, which has a place for every processor.
func hint(e *Event) uint32 {
	return uint32(uint64(uintptr(unsafe.Pointer(e))) * 0x9e3779b97f4a7c15 >> 32)
}

// sum adds numbers that are not negative, and stops at the greatest there is.
func sum(a, b int64) int64 {
	if c := a + b; c >= 0 {
		return c
	}
	return math.MaxInt64
}
