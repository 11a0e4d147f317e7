package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
)

// Defaults of a store that is not told otherwise.
const (
	DefaultAge     = 50 * time.Millisecond
	DefaultShare   = 0.1
	DefaultMaxKeys = 1 << 14
)

// Bounds of the greatest age of a lease.
const (
	MinAge = 5 * time.Millisecond
	MaxAge = 10 * time.Second
)

// Faults of the settings.
var (
	ErrInner = errors.New("there is no inner store")
	ErrAge   = errors.New("age must be 5ms to 10s")
	ErrShare = errors.New("share must be above 0 and at most 1")
	ErrKeys  = errors.New("number of keys must be 1 to 16777216")
)

// Store decides out of leases that it takes from an inner store. It is safe for
// concurrent use. Close gives back what is left.
type Store struct {
	inner  store.Store
	rules  rules
	clock  *clock.Clock
	logger *slog.Logger
	keys   int
	table  table
	plans  plans

	ctx    context.Context // of all calls in the background
	cancel context.CancelFunc
	done   chan struct{} // closed by Close
	closed atomic.Bool
	pumps  atomic.Int64 // refills under way
	warned atomic.Int64 // when

	mu       sync.Mutex // guards what follows, and that nothing starts after Close
	tasks    sync.WaitGroup
	leased   []*entry // those that have lots to watch over
	sweeping bool
}

var _ store.Prompt = (*Store)(nil)

// Option sets up a Store.
type Option func(*Store)

// Age sets the greatest age A of a lease. A longer one makes fewer calls to the
// inner store; in strict mode it costs a bucket more of its burst.
func Age(d time.Duration) Option { return func(s *Store) { s.rules.age = micros(d) } }

// FullBurst lets buckets keep their whole burst: instances together may then
// exceed a bucket's limit by what it refills in the age of a lease. Windows are
// never exceeded.
func FullBurst() Option { return func(s *Store) { s.rules.fullBurst = true } }

// Share caps a batch to a share of the limit: of the count of a window, of the
// burst of a bucket.
func Share(share float64) Option { return func(s *Store) { s.rules.share = share } }

// MaxKeys caps how many keys are watched, rounded up to a power of two. Keys
// that find no place go to the inner store.
func MaxKeys(n int) Option { return func(s *Store) { s.keys = n } }

// WithClock lets the store take the time from now, which must not go back.
// Without it the store uses the machine's monotonic clock.
func WithClock(now func() time.Time) Option {
	return func(s *Store) { s.clock = clock.Func(now) }
}

// WithLogger sends a warning to l, at most once a second, when a call in the
// background fails and no request is told.
func WithLogger(l *slog.Logger) Option { return func(s *Store) { s.logger = l } }

// New returns a store that takes leases from inner, which must know
// [store.Lease] and [store.Return]. All instances that share a limit must use the
// same age and mode.
func New(inner store.Store, opts ...Option) (*Store, error) {
	s := &Store{inner: inner, keys: DefaultMaxKeys, done: make(chan struct{})}
	s.rules = rules{age: micros(DefaultAge), share: DefaultShare}
	for _, o := range opts {
		o(s)
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	if s.clock == nil {
		s.clock = clock.System()
	}
	s.table.init(s.keys)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *Store) validate() error {
	switch {
	case s.inner == nil:
		return ErrInner
	case s.rules.age < micros(MinAge) || s.rules.age > micros(MaxAge):
		return ErrAge
	case !(s.rules.share > 0 && s.rules.share <= 1):
		return ErrShare
	case s.keys < 1 || s.keys > 1<<24:
		return ErrKeys
	}
	return nil
}

// HonorsContext implements [store.Prompt]: what is not decided here waits for the inner
// store, so it is as that is.
func (s *Store) HonorsContext() bool { return store.HonorsContext(s.inner) }

// Take implements [store.Store]. A Spend, or a peek, that the lease can serve
// is answered at once: what remains is then what the store had left when it
// granted the lease, and what of the lease is left. Everything else waits for
// the inner store as long as ctx allows.
func (s *Store) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	dry := false
	if op == store.Spend && len(checks) == 1 {
		var done bool
		if done, dry = s.takeFast(&checks[0]); done {
			return nil
		}
	}
	if err := store.Validate(op, checks); err != nil {
		return err
	}
	switch {
	case op == store.Reset:
		return s.reset(ctx, checks)
	case op == store.Refund:
		return s.refund(ctx, checks)
	case op != store.Spend || dry || s.closed.Load():
		return s.pass(ctx, op, checks)
	case len(checks) == 1:
		return s.takeOne(ctx, checks)
	}
	return s.takeSeveral(ctx, checks)
}

// takeFast decides a check out of the current lot of its key, without a lock; or
// finds that there is none, and that the store is dry. A key that is found was
// valid when it came.
func (s *Store) takeFast(c *store.Check) (done, dry bool) {
	if c.MaxWait > 0 || c.Cost < 1 {
		return false, false
	}
	e := s.table.find(c.Key, c.Spec.Shape())
	if e == nil || e.spec.Load() != c.Spec {
		return false, false
	}
	now := s.clock.Now()
	p, ok := e.core.take(now, c.Cost)
	if !ok {
		return false, p.lot == nil && now < e.dry.Load()
	}
	settle(c, &p, now)
	if p.left <= p.lot.low && !p.lot.told.Load() && p.lot.told.CompareAndSwap(false, true) {
		s.wake(e)
	}
	return true, false
}

// settle answers a check that was paid for.
func settle(c *store.Check, p *payment, now int64) {
	c.Verdict = p.verdict(c.Spec, now)
	c.Now, c.Mark = p.lot.at, p.lot.mark
}

// plans remembers what limits mean, by their address.
type plans struct {
	known sync.Map // *algo.Spec to *plan
	count atomic.Int64
}

// maxPlans is where the memory of plans begins anew: limits of calendar months
// come and go.
const maxPlans = 4096

func (s *Store) plan(of *algo.Spec) *plan {
	if p, ok := s.plans.known.Load(of); ok {
		return p.(*plan)
	}
	if s.plans.count.Add(1) > maxPlans {
		s.plans.known.Clear()
		s.plans.count.Store(1)
	}
	p, _ := s.plans.known.LoadOrStore(of, s.rules.plan(of))
	return p.(*plan)
}
