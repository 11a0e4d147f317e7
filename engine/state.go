package engine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sluice-limiter/sluice/rule"
)

// state is by what requests are decided. A request uses one from start to end.
type state struct {
	set      *rule.Set
	calendar bool
	deny     bool // what no rule matches
	permits  bool // a rule has a limit of concurrency
	scopes   int  // how many are asked: all, or only those of rates
}

// order is how stores are asked.
func (s *state) order() []int { return order[scopes-s.scopes:] }

// Errors of [New] and [Engine.Swap].
var (
	ErrNoSet    = errors.New("engine: no rules: give a rule.Set, which may be empty")
	ErrInstance = errors.New("scope split needs to know the other instances: give the engine WithInstance")
)

func (e *Engine) newState(set *rule.Set) (*state, error) {
	if set == nil {
		return nil, ErrNoSet
	}
	for _, r := range set.Rules() {
		if e.instance == nil && splits(r) {
			return nil, fmt.Errorf("engine: rule %q: %w", r.Name, ErrInstance)
		}
	}
	s := &state{set: set, calendar: set.HasCalendar(), permits: set.HasConcurrency(), scopes: rates}
	if s.deny = set.Config().Default == rule.Deny; s.permits {
		s.scopes = scopes
	}
	return s, nil
}

// splits reports whether a limit of the rule is divided among the instances.
func splits(r *rule.Compiled) bool {
	has := func(limits []rule.Limit) bool {
		for _, l := range limits {
			if cmp.Or(l.Scope, r.Scope) == rule.Split {
				return true
			}
		}
		return false
	}
	for _, o := range r.Overrides {
		if has(o.Limits) {
			return true
		}
	}
	return has(r.Limits) || has(r.Candidate)
}

// current returns the state. Calendars that are nearly used up are laid out anew.
func (e *Engine) current() *state {
	s := e.state.Load()
	if !s.calendar {
		return s
	}
	fresh := s.set.Fresh(e.now())
	if fresh == s.set {
		return s
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state.Load() == s { // no Swap came first
		later := *s
		later.set = fresh
		e.state.Store(&later)
	}
	return e.state.Load()
}

// Swap makes set the one by which all later requests are decided. No request sees
// half of it. Budgets of rules that keep their name stay as they are; a limit that
// changed goes on with what was spent, unless its algorithm or period is another:
// then it starts fresh. A set that cannot be used is refused with an error, and the
// rules in force stay. The log gets a line with what changed.
func (e *Engine) Swap(set *rule.Set) error {
	s, err := e.newState(set)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.swap(set)
	e.tellSwap(e.state.Swap(s).set, set)
	return nil
}

// Set returns the rules in force.
func (e *Engine) Set() *rule.Set { return e.state.Load().set }

// ShadowAll turns every rule to shadow, or back. Requests that are being decided
// at that moment may still go by what was before. The log gets a line.
func (e *Engine) ShadowAll(on bool) {
	if e.shadow.Swap(on) != on {
		e.tellShadow(on)
	}
}

// ShadowedAll reports whether every rule is turned to shadow.
func (e *Engine) ShadowedAll() bool { return e.shadow.Load() }
