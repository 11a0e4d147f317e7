package engine

import (
	"slices"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// Observer is told of every decision, in the goroutine that asked: it must be quick
// and safe for concurrent use.
type Observer interface {
	// Observe must not keep e, nor anything that it points to, after returning: the
	// memory is used for the next request. Texts of it that are to be kept have to be
	// copied with strings.Clone, above all Outcome.Key.
	Observe(e *Event)
}

// Event is one decision.
type Event struct {
	Request  *Request
	Path     string // in canonical form
	Decision Decision
	Outcomes []Outcome // one for each rule that matched, in the order of the rules
	Err      error     // it could not be decided, or the caller has left
	Left     bool      // the caller has left: its context ended first, and Err says so

	charged []rule.Hit    // all rules, if each allowed and was charged: Outcomes are made of them when somebody looks
	spared  sluice.Reason // why it would be refused without any rule, were not all in shadow
}

// Outcome is what one rule said.
type Outcome struct {
	Rule      *rule.Compiled
	Key       string // whose budget; empty if a part of it is missing, or the path ambiguous. Valid only during Observe
	Cost      int64
	Enforced  bool // not shadow
	Allowed   bool // by all of its limits, whether enforced or not
	Undecided bool // some of its limits were not asked: others had refused, the request could not be decided, or of a shadow rule, the store is down; those asked allowed
	Candidate CandidateOutcome
	Spent     bool // it was charged: the request was allowed, and this rule allowed it
	Degraded  bool

	ambiguous bool    // it denies the path, which can be read in more than one way
	denial    *denial // what its limits say, if they do not allow
}

// CandidateOutcome is what the candidate limits of a rule said.
type CandidateOutcome uint8

// What candidates say.
const (
	NoCandidate CandidateOutcome = iota // the rule has none, or they were not asked
	CandidateAllows
	CandidateDenies
)

// spell makes the outcomes of rules that were all charged.
func (e *Event) spell() {
	if e.charged == nil {
		return
	}
	out := slices.Grow(e.Outcomes[:0], len(e.charged))[:len(e.charged)]
	for i := range e.charged {
		h, o := &e.charged[i], &out[i] // its fields are set one by one, all of them: that spares a copy
		o.Rule, o.Key, o.Cost, o.denial = h.Rule, h.KeyText(), h.Cost, nil
		o.Enforced, o.Allowed, o.Undecided, o.Candidate = true, true, false, NoCandidate
		o.Spent, o.Degraded, o.ambiguous = true, false, false
	}
	e.Outcomes, e.charged = out, nil
}

// observe tells everybody of the decision.
func (e *Engine) observe(c *call) {
	e.watch.observe(&c.event)
	if len(e.observers) == 0 {
		return
	}
	c.event.spell()
	for _, o := range e.observers {
		o.Observe(&c.event)
	}
}
