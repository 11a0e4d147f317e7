package failover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// Policy says what decides when the main store does not.
type Policy uint8

// The policies. Local is the default.
const (
	Local Policy = iota // the local store: this instance's share
	Allow               // everything passes that the limit could ever admit
	Deny                // nothing passes
)

// String returns the policy's name.
func (p Policy) String() string { return [...]string{"local", "allow", "deny"}[min(p, Deny)] }

// DefaultDeadline is how long a decision may take.
const DefaultDeadline = 50 * time.Millisecond

// Errors of [New].
var (
	ErrStore    = errors.New("failover: needs a main and a local store")
	ErrDeadline = errors.New("failover: deadline must be 1ms to 1m")
)

// ErrPolicies is how [Store.TakeEach] refuses a call without a policy for every check.
var ErrPolicies = errors.New("failover: needs as many policies as checks")

// Store decides by a main store, and by a policy when that fails.
type Store struct {
	*core
	policy Policy
}

var _ store.Store = (*Store)(nil)

// core is what all policies share.
type core struct {
	main, local store.Store
	deadline    time.Duration
	direct      bool
	probe       func(context.Context) error
	observer    func(Event)
	logger      *slog.Logger
	clock       *clock.Clock
	breaker     breaker
	calls       sync.Pool // of *call; not everybody's, so that it may live in a synctest bubble
	singles     sync.Pool // of *[1]store.Check

	running  atomic.Int64 // calls that were handed over
	most     int64        // how many may be
	strayed  atomic.Bool  // something that is named was taken in the local store
	released released
	degraded atomic.Int64
	logged   atomic.Int64 // when
	told     atomic.Int64 // how many were degraded then
	failed   atomic.Bool  // the main store has failed, and not answered since
	toldBack atomic.Int64 // when the log was last told that it does again
}

// Option sets up a Store.
type Option func(*core)

// Deadline sets how long the main store may take for a decision.
func Deadline(d time.Duration) Option { return func(c *core) { c.deadline = d } }

// Direct says that the main store returns when its context ends, so that it can
// be called without a goroutine of its own for every call. A store that says so itself
// ([store.HonorsContext]), such as redisstore's, needs no such option.
func Direct() Option { return func(c *core) { c.direct = true } }

// Probe sets how to find out whether the main store is back. The default is to
// peek at what failed last and, by turns, at a key that nobody uses; a store that
// may answer that without the server needs another way.
func Probe(probe func(context.Context) error) Option { return func(c *core) { c.probe = probe } }

// WithObserver tells observe of every change of state, one after the other. It
// must be quick. It may call Close.
func WithObserver(observe func(Event)) Option { return func(c *core) { c.observer = observe } }

// WithLogger sends a line to l on every change of state and, at most once a
// second, when decisions are made without the main store, and when it answers again.
func WithLogger(l *slog.Logger) Option { return func(c *core) { c.logger = l } }

// New returns a store that decides by main and, when that fails, by the policy
// Local in local. Close ends what it may do in the background.
func New(main, local store.Store, opts ...Option) (*Store, error) {
	c := &core{main: main, local: local, deadline: DefaultDeadline, clock: clock.System(), most: maxRunning}
	for _, o := range opts {
		o(c)
	}
	switch {
	case main == nil || local == nil:
		return nil, ErrStore
	case c.deadline < time.Millisecond || c.deadline > time.Minute:
		return nil, fmt.Errorf("%w: %v", ErrDeadline, c.deadline)
	}
	c.direct = c.direct || store.HonorsContext(main)
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	c.calls.New = func() any { return &call{done: make(chan error, 1)} }
	c.singles.New = func() any { return new([1]store.Check) }
	c.breaker.init()
	return &Store{core: c}, nil
}

// WithPolicy returns the store with another policy. Both know the same of the main
// store.
func (s *Store) WithPolicy(p Policy) *Store { return &Store{core: s.core, policy: p} }

// Policy returns what decides when the main store does not.
func (s *Store) Policy() Policy { return s.policy }

// Stats is what a store tells of itself.
type Stats struct {
	Open     bool  // the main store is not asked
	Opened   int64 // how often that began
	Degraded int64 // decisions and other calls that were made without it
	Running  int64 // calls to the main store that have a goroutine, those that nobody waits for any more included
}

// Stats returns the store's figures, over all policies.
func (s *Store) Stats() Stats {
	return Stats{s.breaker.open.Load(), s.breaker.opened.Load(), s.degraded.Load(), s.running.Load()}
}

// Close ends the search for a store that is down. The store can still be used, and
// then always asks the main store. An observer may still be hearing of a change that
// came before.
func (s *Store) Close() error {
	s.breaker.shut()
	return nil
}
