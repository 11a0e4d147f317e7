package split

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// Instance knows which of how many instances this is. [Member] is one.
type Instance interface {
	Share() (rank, live int)
}

// Fixed is an instance of a fleet that never changes.
type Fixed struct{ Rank, Live int }

// Share implements [Instance].
func (f Fixed) Share() (rank, live int) { return f.Rank, f.Live }

// Store enforces this instance's share of every limit in another store, which is
// this instance's own. Callers go on naming the whole limit and reading verdicts
// by it: Remaining and RetryAfter are this instance's. Of permits, Remaining is the
// whole limit less those that are in flight here, so that the difference is right.
//
// A cost above the whole share is denied as one that can never be admitted: no
// wait at this instance would help.
type Store struct {
	local    store.Store
	instance Instance
	clock    *clock.Clock
	logger   *slog.Logger
	shares   sync.Map // *algo.Spec to *algo.Share
	known    atomic.Int64
}

var _ store.Store = (*Store)(nil)

// Option sets up a Store.
type Option func(*Store)

// WithClock lets the store take the time from now: the one by which the other
// store lives.
func WithClock(now func() time.Time) Option {
	return func(s *Store) { s.clock = clock.Func(now) }
}

// WithLogger sends a warning to l when a limit is smaller than the number of
// instances.
func WithLogger(l *slog.Logger) Option {
	return func(s *Store) { s.logger = l }
}

// New returns a store that enforces the instance's share in local.
func New(local store.Store, instance Instance, opts ...Option) *Store {
	s := &Store{local: local, instance: instance}
	for _, o := range opts {
		o(s)
	}
	if s.clock == nil {
		s.clock = clock.System()
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// part is what a check was before it became this instance's.
type part struct {
	whole *algo.Spec
	share *algo.Share
}

// Take implements [store.Store].
func (s *Store) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	rank, live := s.instance.Share()
	if live <= 1 {
		return s.local.Take(ctx, op, checks)
	}
	var room [8]part // on the stack for as many limits as a request has
	parts, now := room[:0], int64(0)
	for i := range checks {
		c := &checks[i]
		share := s.share(c.Spec, rank, live)
		if now == 0 && share.Moves() {
			now = s.clock.Wall(s.clock.Now())
		}
		parts = append(parts, part{c.Spec, share})
		c.Spec = share.At(now)
	}
	err := s.local.Take(ctx, op, checks)
	decided := err == nil && (op == store.Spend || op == store.Reserve || op == store.Lease || op == store.Acquire)
	for i := range checks {
		c, by := &checks[i], checks[i].Spec
		c.Spec = parts[i].whole
		if decided {
			c.Verdict = parts[i].share.Read(by, c.Verdict, now, c.Cost)
		}
	}
	return err
}

// maxShares is how many limits are remembered before all are forgotten: limits
// that changed leave their shares behind.
const maxShares = 10_000

// share returns the share of a limit, which is made once for each number of
// instances.
func (s *Store) share(p *algo.Spec, rank, live int) *algo.Share {
	var last *algo.Share
	if v, ok := s.shares.Load(p); ok {
		if last = v.(*algo.Share); last.Of(int64(rank), int64(live)) {
			return last
		}
	} else if s.known.Add(1) > maxShares {
		s.shares.Clear()
		s.known.Store(1)
	}
	share := p.Share(int64(rank), int64(live))
	s.shares.Store(p, share)
	if share.Thin() && (last == nil || !last.Thin()) {
		s.logger.Warn("sluice: a limit is smaller than the number of instances that divide it: "+
			"bursts add up to more, counts leave some with nothing for a while",
			"count", p.Count, "burst", p.Burst, "live", live)
	}
	return share
}
