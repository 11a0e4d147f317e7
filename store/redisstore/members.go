package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// Beat tells that member id of a group is alive and will be for hold. It returns
// how many of the living members sort before it, and how many there are.
func (s *Store) Beat(ctx context.Context, group, id string, hold time.Duration) (rank, live int, err error) {
	micros := hold.Microseconds()
	if micros < 1 || micros > store.MaxHold {
		return 0, 0, fmt.Errorf("redisstore: beat: hold %v: %w", hold, store.ErrID)
	}
	d, err := s.beat(ctx, group, id, micros)
	return int(d.rank), int(d.live), err
}

// Leave tells that member id of a group is gone.
func (s *Store) Leave(ctx context.Context, group, id string) error {
	_, err := s.beat(ctx, group, id, 0)
	return err
}

func (s *Store) beat(ctx context.Context, group, id string, hold int64) (decision, error) {
	d := decision{op: beat, checks: []store.Check{{Key: group, ID: id}}, hold: hold}
	switch {
	case len(group) == 0 || len(group) > store.MaxKey:
		return d, fmt.Errorf("redisstore: beat: group of %d bytes: %w", len(group), store.ErrKey)
	case len(id) == 0 || len(id) > store.MaxKey:
		return d, fmt.Errorf("redisstore: beat: member of %d bytes: %w", len(id), store.ErrID)
	}
	err := s.sender.send(ctx, &d)
	return d, named(beat, err)
}
