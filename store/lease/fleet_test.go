package lease_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// far is the shared store at the other end of a network: every call and every
// answer takes a while, and some are lost.
type far struct {
	store.Store
	log     *admissions
	slowest time.Duration // one way
	lose    int           // one in so many, before or after it was carried out
	cut     atomic.Bool   // nothing gets through any more
	calls   atomic.Int64

	mu  sync.Mutex
	rng *rand.Rand
}

var errLost = errors.New("lost on the way")

func (f *far) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	f.calls.Add(1)
	if err := f.travel(ctx); err != nil {
		return err
	}
	if err := f.Store.Take(ctx, op, checks); err != nil {
		return err
	}
	for i := range checks {
		if c := &checks[i]; c.Verdict.Allowed && (op == store.Spend || op == store.Lease) {
			f.log.granted()
		}
	}
	if t, ok := ctx.Value(ticket{}).(*ticket); ok && op == store.Spend && checks[0].Verdict.Allowed {
		t.direct = true
		f.log.admit(checks[0].Cost) // here and now
	}
	return f.travel(ctx)
}

func (f *far) travel(ctx context.Context) error {
	f.mu.Lock()
	d, lost := time.Duration(f.rng.Int64N(int64(f.slowest))), f.lose > 0 && f.rng.IntN(f.lose) == 0
	f.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
		return ctx.Err()
	}
	if lost || f.cut.Load() {
		return errLost
	}
	return nil
}

// ticket goes with a request to learn whether the store itself admitted it.
type ticket struct{ direct bool }

// admissions is the log of what was admitted and when; the verdict about a run
// rests on nothing else.
type admissions struct {
	mu     sync.Mutex
	log    []algotest.Event
	grants []int64 // when the store gave anything, which is what opens first-hit windows
}

func (a *admissions) admit(cost int64) {
	now := time.Now().UnixMicro()
	a.mu.Lock()
	a.log = append(a.log, algotest.Event{At: now, Cost: cost})
	a.mu.Unlock()
}

func (a *admissions) granted() {
	now := time.Now().UnixMicro()
	a.mu.Lock()
	a.grants = append(a.grants, now)
	a.mu.Unlock()
}

// sum is what was admitted from one instant on until before another.
func (a *admissions) sum(from, to int64) (sum int64) {
	for _, e := range a.log {
		if e.At >= from && e.At < to {
			sum += e.Cost
		}
	}
	return sum
}

// excess is by how much the log goes beyond the limit, in tokens rounded up,
// at worst; it is not above 0 if the limit was kept.
func (a *admissions) excess(def algo.Spec) int64 {
	if def.Kind == algo.TokenBucket {
		return a.bucketExcess(def)
	}
	size := def.Period / max(1, def.Sub)
	counts, worst := map[int64]int64{}, int64(-def.Count)
	for _, e := range a.log {
		window := e.At / size
		if def.FirstHit {
			window = a.firstHit(e.At, def.Period)
		}
		counts[window] += e.Cost
		load := int64(0)
		for i := range max(1, def.Sub) {
			load += counts[window-i]
		}
		worst = max(worst, load-def.Count)
	}
	return worst
}

// bucketExcess is the greatest of admitted − burst − rate·length, over all
// intervals of the log.
func (a *admissions) bucketExcess(def algo.Spec) int64 {
	level, last, worst := int64(0), a.log[0].At, -def.Burst*def.Period // in 1/Period tokens
	for _, e := range a.log {
		level = max(0, level-(e.At-last)*def.Count) + e.Cost*def.Period
		last = e.At
		worst = max(worst, level-def.Burst*def.Period)
	}
	if worst > 0 {
		worst += def.Period - 1
	}
	return worst / def.Period
}

// firstHit finds the window, opened by the store, that an instant lies in.
func (a *admissions) firstHit(at, period int64) int64 {
	open := int64(-period)
	for _, g := range a.grants {
		if g > at {
			break
		}
		if g >= open+period {
			open = g
		}
	}
	return open
}

// fleet is a number of instances that share a limit.
type fleet struct {
	testing.TB
	def     algo.Spec
	spec    *algo.Spec
	shared  store.Store
	rng     *rand.Rand
	opts    []lease.Option
	slowest time.Duration
	lose    int

	log     admissions
	mu      sync.Mutex // guards rng and members
	members []*member
	load    sync.WaitGroup
	denied  atomic.Int64
	failed  atomic.Int64
}

// member is one instance.
type member struct {
	*lease.Store
	fleet *fleet
	far   *far
}

func newFleet(t testing.TB, seed, n uint64, def algo.Spec, opts ...lease.Option) *fleet {
	return &fleet{
		TB: t, def: def, spec: compile(t, def), shared: algotest.NewModel(time.Now),
		rng: algotest.Rand(seed, n), opts: opts, slowest: time.Millisecond,
	}
}

// join starts an instance.
func (f *fleet) join() *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &member{fleet: f}
	m.far = &far{
		Store: f.shared, log: &f.log, slowest: f.slowest, lose: f.lose, rng: rand.New(rand.NewPCG(f.rng.Uint64(), 1)),
	}
	var err error
	if m.Store, err = lease.New(m.far, f.opts...); err != nil {
		f.Fatal(err)
	}
	f.members = append(f.members, m)
	return m
}

// ask sends one request and reports whether it was admitted.
func (m *member) ask(cost int64) bool {
	t := &ticket{}
	checks := []store.Check{{Key: "k", Spec: m.fleet.spec, Cost: cost}}
	err := m.Take(context.WithValue(context.Background(), ticket{}, t), store.Spend, checks)
	switch {
	case err != nil:
		m.fleet.failed.Add(1)
	case !checks[0].Verdict.Allowed:
		m.fleet.denied.Add(1)
	case !t.direct:
		m.fleet.log.admit(cost)
	}
	return err == nil && checks[0].Verdict.Allowed
}

// calls is how often the store was asked.
func (f *fleet) calls() (sum int64) {
	for _, m := range f.members {
		sum += m.far.calls.Load()
	}
	return sum
}

// close ends all instances; those that crashed cannot give anything back.
func (f *fleet) close() {
	f.Helper()
	for _, m := range f.members {
		if err := m.Close(context.Background()); err != nil && !m.far.cut.Load() && f.lose == 0 {
			f.Error(err)
		}
	}
}

func compile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
