package redisstore

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// Names that tests look at.
var (
	Slot      = slot
	StateKey  = func(s *Store, c *store.Check) string { return s.wire.names.state(c.Key, c.Spec) }
	BookKey   = func(s *Store, c *store.Check) string { return s.wire.names.name(reservations, c.Key, c.Spec) }
	Explain   = explain
	Pings     = pings
	Remembers = func(s *Store) bool { return s.denials != nil }
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

// BeatMany carries out beats of one group with one call, and returns the answers.
func (s *Store) BeatMany(ctx context.Context, group string, ids []string, hold ...time.Duration) (rank, live []int64, err error) {
	var beats []*decision
	for i, id := range ids {
		beats = append(beats, &decision{op: beat, checks: []store.Check{{Key: group, ID: id}}, hold: hold[i].Microseconds()})
	}
	err = s.wire.decide(ctx, beats)
	for _, d := range beats {
		rank, live = append(rank, d.rank), append(live, d.live)
	}
	return rank, live, err
}
