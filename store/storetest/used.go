package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// testReallyUsed reserves, settles and spends at random, and judges what was really
// used: whatever was given back, and in whatever order, no interval saw more than
// the bucket promises.
func testReallyUsed(t testing.TB, s *suite) {
	seed := algotest.Seed(t, s.seed)
	for _, kind := range []algo.Kind{algo.TokenBucket, algo.IntervalBucket, algo.LeakyBucket, algo.WarmUp} {
		w := s.world(t)
		for n := range uint64(max(1, s.steps/100)) {
			u := newUsage(w, algotest.Rand(seed+uint64(kind), n), kind)
			u.key = fmt.Sprint("key ", n)
			u.TB = named{t, fmt.Sprintf("seed %d, %s, round %d", seed, algotest.Describe(u.def), n)}
			for range 1 + u.IntN(4) {
				u.rush()
			}
			if u.judge(); t.Failed() {
				return
			}
		}
	}
}

// use is what one request has used, or may still use while it is open.
type use struct {
	at    int64
	cost  int64
	ready int64       // until then it waits
	op    store.Op    // by which it was taken; Spend if that cannot be settled any more
	check store.Check // of that
}

// usage is the log of one key, whose requests are all as patient.
type usage struct {
	testing.TB
	*rand.Rand
	w        *world
	def      algo.Spec
	spec     *algo.Spec
	key      string
	patience int64
	size     int64 // about as much is there to be had
	fill     int64 // and comes back in this time
	log      []use
	trace    []string
}

// newUsage draws a limit so small that costs meet in the same microseconds.
func newUsage(w *world, r *rand.Rand, kind algo.Kind) *usage {
	u := &usage{TB: w, Rand: r, w: w, size: 4 + r.Int64N(20)}
	u.def = algo.Spec{Kind: kind, Count: 1 + r.Int64N(3), Period: 1 + r.Int64N(60)}
	u.fill = u.size*u.def.Period/u.def.Count + 1
	if kind == algo.WarmUp {
		u.def.Warm, u.def.Cold = 1+r.Int64N(u.fill), 1+r.Float64()
	} else {
		u.def.Burst = u.size
	}
	switch {
	case kind == algo.LeakyBucket || kind == algo.WarmUp: // who does not wait takes nothing there
		u.patience = u.fill
	case r.IntN(3) == 0:
		u.patience = r.Int64N(u.fill)
	}
	u.spec = compile(w, u.def)
	return u
}

// rush opens reservations, settles some of them sooner and some later, and takes
// all that there is in between.
func (u *usage) rush() {
	for range 1 + u.IntN(5) {
		u.take(store.Reserve, 1+u.Int64N(u.size/2+1))
	}
	for range 2 {
		for range u.IntN(4) {
			u.settle()
		}
		u.w.clock.Add(u.Int64N(u.fill) * u.Int64N(2))
		if u.IntN(4) == 0 {
			u.take(store.Lease, 1+u.Int64N(u.size))
		}
		for more := u.IntN(8) > 0; more; {
			more = u.take(store.Spend, max(1, u.w.left(u.key, u.spec)))
		}
	}
}

// take asks for something and reports whether it was allowed.
func (u *usage) take(op store.Op, cost int64) bool {
	c := store.Check{Key: u.key, Spec: u.spec, Cost: cost, ID: fmt.Sprint(len(u.log)), Hold: 1 + u.Int64N(10*u.fill)}
	if c.MaxWait = u.patience; op == store.Lease {
		c.MaxWait, c.Want = 0, cost
	}
	c = u.w.take(op, c)[0]
	v := c.Verdict
	u.note("take %d by operation %d as %s: %v after %d", cost, op, c.ID, v.Allowed, v.Wait)
	if now := u.w.clock.Load(); v.Allowed {
		u.log = append(u.log, use{now, cost, now + v.Wait, op, c})
	}
	return v.Allowed
}

// settle commits some reservation, or returns some of a lease. One that still waits
// has not used anything.
func (u *usage) settle() {
	var open []*use
	for i := range u.log {
		if u.log[i].op != store.Spend {
			open = append(open, &u.log[i])
		}
	}
	if len(open) == 0 {
		return
	}
	e := algotest.Pick(u.Rand, open)
	actual := u.Int64N(e.cost + 1)
	if u.IntN(2) == 0 || u.w.clock.Load() < e.ready {
		actual = 0
	}
	op, c := store.Commit, e.check
	if c.Cost = actual; e.op == store.Lease {
		op, c.Cost = store.Return, e.cost-actual
	}
	settled := u.w.take(op, c)[0].Verdict.Allowed
	u.note("settle %s, of %d to %d: %v", c.ID, e.cost, actual, settled)
	if e.op = store.Spend; settled {
		e.cost = actual
	}
}

// judge looks at all intervals. Those who wait use what flows in meanwhile.
func (u *usage) judge() {
	u.Helper()
	o := algotest.NewOracle(u.def)
	for _, e := range u.log {
		o.Admit(e.at, e.cost)
	}
	if u.def.Kind == algo.IntervalBucket || u.def.Kind == algo.WarmUp {
		u.judgePairs(o.Log)
		return
	}
	capacity := o.Most()
	if u.def.Kind == algo.TokenBucket {
		capacity += u.spec.RefillIn(u.patience)
	}
	if over := o.Excess(capacity, 0); over.Sign() > 0 {
		u.bad("%s more than the bucket promises", over.FloatString(2))
	}
}

// judgePairs looks at the intervals from one request to another. Steps come a
// period apart; the last request to a warm-up limit is paid for by those after it.
func (u *usage) judgePairs(log []algotest.Event) {
	u.Helper()
	for i, first := range log {
		used := int64(0)
		for _, last := range log[i:] {
			span := last.At - first.At + u.patience
			most := u.def.Burst + (span/u.def.Period+1)*u.def.Count
			if u.def.Kind == algo.WarmUp {
				most = u.spec.RefillIn(span+1) + last.Cost
			}
			if used += last.Cost; used > most {
				u.bad("%d used from %d to %d, no more than %d are promised", used, first.At-start, last.At-start, most)
			}
		}
	}
}

func (u *usage) note(format string, args ...any) {
	u.trace = append(u.trace, fmt.Sprintf("at %d: ", u.w.clock.Load()-start)+fmt.Sprintf(format, args...))
}

func (u *usage) bad(format string, args ...any) {
	u.Helper()
	u.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(u.trace, "\n"))
}
