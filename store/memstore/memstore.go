// Package memstore keeps the state of limits in this process.
//
// It needs no goroutine and no sweep: keys that carry no information any more
// give their place to new ones as those come, and at the cap the least valuable
// of at least 32 candidates is forgotten. A token bucket is decided with one
// compare-and-swap and without a lock; nothing is written on denial. A decision
// over several checks holds all of their keys, decides, writes and lets go, so
// nobody ever sees half of it.
package memstore

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// DefaultMaxBytes is the cap of a store that is given none: about five million
// token buckets.
const DefaultMaxBytes = 256 << 20

// Store keeps the state of limits in this process. It is safe for concurrent
// use and needs no closing.
type Store struct {
	clock *clock.Clock
	exact bool      // time is that since base, without a detour
	base  time.Time // a year after the epoch
	epoch int64
	hash  hasher
	table table // of states that fit into a slot
	half  table // of those that fit into a short tail of it
	wide  table // of those that fit into a long one
	rests rests // of all others
	open  reservations

	permits permits

	maxBytes, maxKeys int64
	beside            atomic.Int64 // bytes of what stands beside the tables: long states, reservations
	keys              atomic.Int64
	evicted           atomic.Int64
	forgotten         atomic.Int64
	maxed             atomic.Bool   // memory has been short
	hand              atomic.Uint64 // where evictAnywhere goes on

	logger *slog.Logger
	logged atomic.Int64 // when
	told   atomic.Int64 // how many were forgotten then
}

var _ store.Store = (*Store)(nil)

// Option sets up a Store.
type Option func(*Store)

// MaxBytes caps the memory of the store. Below 512 KiB it is raised to that.
func MaxBytes(n int64) Option {
	return func(s *Store) { s.maxBytes = max(n, 512<<10) }
}

// MaxKeys caps the number of keys instead of the memory; both can be capped.
// It may be passed, for a while, by as many keys as concurrent calls name.
func MaxKeys(n int64) Option {
	return func(s *Store) { s.maxKeys = max(n, 1) }
}

// WithClock lets the store take the time from now, which may jump. Without it
// the store uses the machine's monotonic clock.
func WithClock(now func() time.Time) Option {
	return func(s *Store) { s.clock = clock.Func(now) }
}

// WithLogger sends a warning to l, at most once a second, when the store is full
// and forgets keys that are in use.
func WithLogger(l *slog.Logger) Option {
	return func(s *Store) { s.logger = l }
}

// WithCoarseClock lets the store use a coarse clock.
func WithCoarseClock(c *clock.Coarse) Option {
	return func(s *Store) { s.clock = c.Clock() }
}

// New returns an empty store. Its memory grows with its keys, up to the cap.
func New(opts ...Option) *Store {
	s := &Store{hash: newHasher()}
	for _, o := range opts {
		o(s)
	}
	if s.maxBytes == 0 {
		s.maxBytes = DefaultMaxBytes
		if s.maxKeys > 0 {
			s.maxBytes = math.MaxInt64 / 2
		}
	}
	if s.maxKeys == 0 {
		s.maxKeys = math.MaxInt64
	}
	if s.clock == nil {
		s.clock = clock.System()
	}
	s.base, s.exact = s.clock.Base()
	s.epoch = s.clock.Start() - year // a clock that goes back a little stays on our scale
	s.table.init(narrow)
	s.half.init(half)
	s.wide.init(wide)
	s.open.init()
	s.permits.all = make(map[key]*algo.Permits)
	return s
}

const year = 366 * 24 * 3600 * 1e6

// Stats is what a store tells of itself.
type Stats struct {
	Keys         int64 // keys that have a place, idle ones included
	Bytes        int64 // memory that they take
	Evicted      int64 // keys that gave way at the cap
	Forgotten    int64 // those of them that still carried information: their limits began anew
	Reservations int64 // open reservations
}

// Stats returns the store's figures.
func (s *Store) Stats() Stats {
	bytes := s.besides()
	for _, t := range s.tables() {
		bytes += t.bytes.Load()
	}
	return Stats{s.keys.Load(), bytes, s.evicted.Load(), s.forgotten.Load(), s.open.count()}
}

// Now returns the time by the store's clock.
func (s *Store) Now() time.Time { return time.UnixMicro(s.clock.Now()) }

// Take implements [store.Store]. It never blocks on anything but other calls
// and does not look at ctx.
func (s *Store) Take(_ context.Context, op store.Op, checks []store.Check) error {
	if op == store.Spend && everyday(checks) {
		if !s.takeWords(checks) {
			s.takeSeveral(checks)
		}
		return nil
	}
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	switch {
	case op == store.Reserve:
		return s.reserve(checks)
	case op == store.Spend && len(checks) == 1 && checks[0].MaxWait == 0:
		c := &checks[0]
		c.Verdict = algo.Verdict{}
		s.take(&c.Verdict, s.hash.key(c.Key, c.Spec.Shape()), c.Spec, c.Cost)
	case op == store.Spend:
		s.takeAll(checks)
	case op == store.Lease:
		for i := range checks {
			s.lease(checks[i : i+1])
		}
	case op >= store.Acquire:
		return s.changePermits(op, checks)
	default:
		if op == store.Reset {
			s.resetPermits(checks)
		}
		s.changeAll(op, checks)
	}
	return nil
}

// TakeOne is Take with [store.Spend] for a single check that does not wait. It
// writes the answer to v, which must be zero. The input must be valid.
func (s *Store) TakeOne(name string, p *algo.Spec, cost int64, v *algo.Verdict) {
	k := s.hash.key(name, p.Shape())
	if p.WordUnit() == 0 {
		s.take(v, k, p, cost)
		return
	}
	page := s.table.slots(k)
	prefetch(page.start(k, narrow)) // while the clock is read
	var now int64
	if s.exact {
		now = int64(time.Since(s.base))/1000 + year
	} else {
		now = s.clock.Now() - s.epoch
	}
	if uint64(now) <= algo.MaxWordTime {
		sl, w := page.find(k, narrow)
		next, due, easy := p.TakeWord(w, now, cost)
		switch {
		case !easy || sl.unitOf() != p.WordUnit():
		case due <= p.WordCapacity():
			if sl.swap(k, w, next) {
				v.Allowed, v.Y = true, due
				return
			}
		case sl.word.Load() == w && sl.is(k):
			s.mark(sl)
			*v = p.DenyWord(due, cost)
			return
		}
	}
	s.take(v, k, p, cost)
}
