package storetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// Open makes an empty store that lives by the given clock.
type Open = func(t testing.TB, now func() time.Time) store.Store

// Option changes how long [Run] takes.
type Option func(*suite)

// Steps sets how many random decisions per algorithm are compared with the model.
// The default is 20,000.
func Steps(n int) Option { return func(s *suite) { s.steps = n } }

// Seed sets the seed of the random parts; 0 draws one.
func Seed(seed uint64) Option { return func(s *suite) { s.seed = seed } }

// suite is what one run needs.
type suite struct {
	open  Open
	steps int
	seed  uint64
}

// parts are the parts besides the scripts.
var parts = []struct {
	name string
	run  func(t testing.TB, s *suite)
}{
	{"faults of the input", testFaults},
	{"first request", testFirstRequest},
	{"definition", testDefinition},
	{"several checks", testSeveral},
	{"same key twice", testSameKeyTwice},
	{"shadow checks", testShadow},
	{"shadow reservations", testShadowReservation},
	{"shadow permits", testShadowPermits},
	{"refund and reset", testRefundAndReset},
	{"reservation", testReservation},
	{"reservation expires", testExpiry},
	{"reservation cancelled", testCancel},
	{"spend cancelled", testCancelSpend},
	{"cancel by an old limit", testCancelByAnOldLimit},
	{"nothing to settle for an old limit", testUnsettledByAnOldLimit},
	{"really used", testReallyUsed},
	{"concurrent spend", testConcurrentSpend},
	{"concurrent several", testConcurrentSeveral},
	{"permits", testPermits},
	{"permits together", testPermitsTogether},
	{"permits like the model", testPermitsLikeTheModel},
	{"equivalence", testEquivalence},
}

// Run runs the whole suite against stores that open makes.
func Run(t *testing.T, open Open, options ...Option) {
	t.Helper()
	s := newSuite(open, options)
	t.Run("scripts", func(t *testing.T) { algotest.Run(t, open) })
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, s) })
	}
}

func newSuite(open Open, options []Option) *suite {
	s := &suite{open: open, steps: algotest.Rounds(20_000, 1_000_000)}
	for _, o := range options {
		o(s)
	}
	return s
}

// start is the instant at which every world begins, in µs.
var start = time.Date(2024, 5, 17, 10, 20, 30, 123_456_000, time.UTC).UnixMicro()

// world is a store and its clock.
type world struct {
	testing.TB
	store store.Store
	clock atomic.Int64 // µs
}

func (s *suite) world(t testing.TB) *world {
	w := &world{TB: t}
	w.clock.Store(start)
	w.store = s.open(t, w.now)
	return w
}

func (w *world) now() time.Time { return time.UnixMicro(w.clock.Load()) }

// take carries out an operation that must not fail, and returns the answers.
func (w *world) take(op store.Op, checks ...store.Check) []store.Check {
	w.Helper()
	if err := w.store.Take(context.Background(), op, checks); err != nil {
		w.Fatalf("take: operation %d: %v", op, err)
	}
	return checks
}

// spend asks for one cost of one key.
func (w *world) spend(key string, p *algo.Spec, cost int64) algo.Verdict {
	w.Helper()
	return w.take(store.Spend, store.Check{Key: key, Spec: p, Cost: cost})[0].Verdict
}

// left is what remains to a key, by a peek.
func (w *world) left(key string, p *algo.Spec) int64 {
	w.Helper()
	return p.Remaining(w.spend(key, p, 0))
}

// wantLeft checks what remains to a key.
func (w *world) wantLeft(key string, p *algo.Spec, want int64, when string) {
	w.Helper()
	if got := w.left(key, p); got != want {
		w.Errorf("%s: %d remain, want %d", when, got, want)
	}
}

func compile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatalf("compile %s: %v", algotest.Describe(def), err)
	}
	return p
}

// hundreds are limits of 100 per hour of every algorithm that counts.
func hundreds() []algo.Spec {
	const hour = 3600 * 1_000_000
	return []algo.Spec{
		{Kind: algo.TokenBucket, Count: 100, Period: hour, Burst: 100},
		{Kind: algo.TokenBucket, Count: 1_000_003, Period: 10_000 * hour, Burst: 100}, // does not fit into a word
		{Kind: algo.IntervalBucket, Count: 100, Period: hour, Burst: 100},
		{Kind: algo.LeakyBucket, Count: 100, Period: hour, Burst: 99},
		{Kind: algo.FixedWindow, Count: 100, Period: hour},
		{Kind: algo.FixedWindow, Count: 100, Period: hour, FirstHit: true},
		{Kind: algo.SlidingWindow, Count: 100, Period: hour, Sub: 10},
		{Kind: algo.WeightedWindow, Count: 100, Period: hour},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 100, Period: hour}}},
	}
}

// eachHundred runs a case for every limit of [hundreds], each in a world of its own.
func (s *suite) eachHundred(t testing.TB, run func(w *world, p *algo.Spec)) {
	t.Helper()
	for _, def := range hundreds() {
		w := s.world(t)
		w.TB = named{t, algotest.Describe(def)}
		run(w, compile(t, def))
	}
}

// named puts a name before all complaints.
type named struct {
	testing.TB
	name string
}

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.TB.Errorf("%s: "+format, append([]any{n.name}, args...)...)
}

func (n named) Fatalf(format string, args ...any) {
	n.Helper()
	n.TB.Fatalf("%s: "+format, append([]any{n.name}, args...)...)
}
