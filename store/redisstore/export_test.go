package redisstore

import (
	"context"

	"github.com/sluice-limiter/sluice/store"
)

// Names that tests look at.
var (
	Slot      = slot
	StateKey  = func(s *Store, c *store.Check) string { return s.wire.names.state(c.Key, c.Spec) }
	BookKey   = func(s *Store, c *store.Check) string { return s.wire.names.name(reservations, c.Key, c.Spec) }
	ScriptSHA = func() string { return script().sha }
)

// Decision is one of many in a call.
type Decision struct {
	Op     store.Op
	Checks []store.Check
	Err    error
}

// TakeMany carries out many decisions with one call.
func (s *Store) TakeMany(ctx context.Context, all []Decision) error {
	var decisions []*decision
	for i := range all {
		decisions = append(decisions, &decision{op: all[i].Op, checks: all[i].Checks})
	}
	err := s.wire.decide(ctx, decisions)
	for i, d := range decisions {
		all[i].Err = d.err
	}
	return err
}
