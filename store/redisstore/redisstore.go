// Package redisstore keeps the state of limits in Redis or Valkey, so that any
// number of processes share one budget.
//
// Every decision, however many limits it asks, is one call of one Lua script,
// which mirrors package algo and decides by the clock of the server. The package
// needs no client library, but something that can run scripts: a [Scripter].
package redisstore

import (
	"context"
	"fmt"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// Store is a [store.Store] on Redis. Besides the contract it promises that a call
// which may have run is never sent a second time.
type Store struct {
	wire   wire
	sender sender
	spread bool // keys of one decision may lie in several slots of a cluster

	clock   *clock.Clock
	denials *denials   // nil: none are remembered
	turns   *coalescer // for keys whose denial has run out; nil: as all others
	hits    tally      // of what is remembered
}

var _ store.Prompt = (*Store)(nil)

// sender carries one decision to Redis and fills in its answer. The error is that
// of the call or of the decision.
type sender interface {
	send(ctx context.Context, d *decision) error
}

// New returns a store that runs its script through s.
func New(s Scripter, options ...Option) (*Store, error) {
	if s == nil {
		return nil, fmt.Errorf("redisstore: no Scripter: %w", ErrOption)
	}
	st := &Store{wire: wire{scripter: s, names: namer{prefix: "sluice"}}, clock: clock.System()}
	st.denials = newDenials(denialEntries, denialMaxAge)
	for _, o := range options {
		if err := o(st); err != nil {
			return nil, err
		}
	}
	if st.sender == nil {
		st.sender = newCoalescer(&st.wire, st.clock, crowd, st.spread)
		if st.denials != nil {
			st.turns = newCoalescer(&st.wire, st.clock, inTurn, st.spread)
			st.turns.denials = st.denials
		}
	}
	return st, nil
}

// Take implements [store.Store].
//
// In a cluster (see [Cluster]) the checks of a Spend or Reserve whose keys lie in
// several slots are decided in one call per slot, and what was spent is given back
// if a later one denies: others can see it for one round trip. Slots of nothing but
// shadow checks are asked last.
func (s *Store) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	if len(checks) > maxChecks {
		return fmt.Errorf("redisstore: %d checks, at most %d: %w", len(checks), maxChecks, ErrTooMany)
	}
	if len(checks) == 0 || stateless(op, checks) {
		return nil
	}
	if s.denials == nil {
		return s.decide(ctx, op, checks)
	}
	sent := s.clock.Now()
	switch s.denials.look(sent, op, checks) {
	case denied:
		s.hits.add()
		return nil
	case ranOut:
		if s.turns != nil && (len(checks) == 1 || !s.spread) {
			return s.askInTurn(ctx, op, checks)
		}
	}
	err := s.decide(ctx, op, checks)
	s.denials.note(sent, s.clock.Now(), op, checks, err)
	return err
}

// askInTurn asks the server about keys that were denied until now. All who were come
// back at that moment, and few of them get something: so one asks, and the others
// wait for what that tells.
func (s *Store) askInTurn(ctx context.Context, op store.Op, checks []store.Check) error {
	d := decision{op: op, checks: checks}
	err := s.turns.send(ctx, &d)
	if d.known {
		s.hits.add()
	}
	return named(op, err)
}

// HonorsContext implements [store.Prompt]: Take returns when its context ends. A decision
// that is sent by itself returns when the [Scripter] does, which therefore has to end
// with its context, as all adapters of this project do.
func (s *Store) HonorsContext() bool { return true }

// decide asks the server.
func (s *Store) decide(ctx context.Context, op store.Op, checks []store.Check) error {
	if s.spread && len(checks) > 1 {
		return s.takeSlots(ctx, op, checks)
	}
	d := decision{op: op, checks: checks}
	return named(op, s.sender.send(ctx, &d))
}

// stateless answers checks of limits that remember nothing, which nobody has to be
// asked for, and reports whether all are of that sort.
func stateless(op store.Op, checks []store.Check) bool {
	switch op {
	case store.Reserve, store.Commit, store.Reset: // reservations are remembered whatever the limit
		return false
	}
	for i := range checks {
		if k := checks[i].Spec.Kind; k != algo.Unlimited && k != algo.Ban {
			return false
		}
	}
	for i := range checks {
		c := &checks[i]
		c.Verdict = algo.Verdict{Allowed: op != store.Cancel || c.Mark == algo.Mark{}}
		if op == store.Spend || op == store.Lease {
			c.Verdict = algo.Check(c.Spec, &algo.State{}, 0, c.Cost, 0)
		}
		if op == store.Lease && c.Verdict.Allowed {
			c.Granted = c.Want
		}
	}
	return true
}

var opNames = [...]string{"spend", "reserve", "commit", "refund", "reset", "cancel", "lease", "return", "acquire", "renew", "release", "beat"}

// named says in which operation an error happened.
func named(op store.Op, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("redisstore: %s: %w", opNames[op], err)
}
