package algo_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0 draws a new one")

// forever is more patience than any limit allows.
const forever = math.MaxInt64

func compile(t testing.TB, def algo.Spec) *algo.Spec {
	t.Helper()
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatalf("compile %+v: %v", def, err)
	}
	return p
}

// clone copies a state so that nothing is shared.
func clone(s *algo.State) *algo.State {
	c := *s
	c.More = append([]int64(nil), s.More...)
	return &c
}

func same(a, b *algo.State) bool {
	return a.T == b.T && a.F == b.F && a.G == b.G && a.Ahead == b.Ahead &&
		(len(a.More)+len(b.More) == 0 || reflect.DeepEqual(a.More, b.More))
}

// eachKind runs a random test once per algorithm and round, in parallel.
func eachKind(t *testing.T, rounds int, run func(t testing.TB, r *rand.Rand, kind algo.Kind)) {
	t.Helper()
	seed := algotest.Seed(t, *seedFlag)
	for _, kind := range algotest.Kinds() {
		rounds := rounds
		if kind == algo.WarmUp {
			rounds = rounds/5 + 1 // its oracle is slow
		}
		t.Run(algotest.KindName(kind), func(t *testing.T) {
			t.Parallel()
			for n := range uint64(rounds) {
				run(t, algotest.Rand(seed, n), kind)
				if t.Failed() {
					t.Fatalf("seed %d, round %d", seed, n)
				}
			}
		})
	}
}

// walk is a stream of requests to one key, decided by algo and judged by the
// oracle.
type walk struct {
	testing.TB
	*algotest.Stream
	def    algo.Spec
	spec   *algo.Spec
	state  algo.State
	oracle *algotest.Oracle
	trace  []string
}

func newWalk(t testing.TB, r *rand.Rand, def algo.Spec) *walk {
	return &walk{
		TB: t, Stream: algotest.NewStream(r, def), def: def, spec: compile(t, def),
		oracle: algotest.NewOracle(def),
	}
}

func (w *walk) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("at %d: ", w.Now)+fmt.Sprintf(format, args...))
}

// bad reports a failure with the definition and the last steps.
func (w *walk) bad(format string, args ...any) {
	w.Helper()
	last := w.trace[max(0, len(w.trace)-20):]
	w.Fatalf("%s\nlimit %s\n%s\nstate %+v", fmt.Sprintf(format, args...),
		algotest.Describe(w.def), strings.Join(last, "\n"), w.state)
}

// decide asks algo and has everything in the answer judged.
func (w *walk) decide(cost, patience int64) algo.Verdict {
	w.Helper()
	w.note("cost %d patience %d", cost, patience)
	before := clone(&w.state)
	want := w.oracle.Ask(w.Now, cost, patience)
	checked := algo.Check(w.spec, &w.state, w.Now, cost, patience)
	v := algo.Decide(w.spec, &w.state, w.Now, cost, patience)
	w.note("  %+v, want %+v", v, want)
	if checked != v || !same(before, &w.state) && (cost == 0 || !v.Allowed) {
		w.bad("Check %+v and Decide %+v, state before %+v", checked, v, before)
	}
	if w.def.Kind == algo.WarmUp {
		w.judgeWarm(v, cost, patience)
	} else if v.Allowed != want.Allowed || v.Never != want.Never || w.spec.RetryAfter(v) != want.Retry ||
		cost > 0 && v.Wait != want.Wait {
		w.bad("got %+v (retry %d), oracle %+v", v, w.spec.RetryAfter(v), want)
	}
	if v.Allowed {
		w.oracle.Admit(w.Now, cost)
	}
	w.honest(before, v, cost, patience)
	w.judgeRest(v)
	return v
}

// judgeWarm allows float64 to fall on the other side of a whole microsecond, but
// only where the exact value lies on one.
func (w *walk) judgeWarm(v algo.Verdict, cost, patience int64) {
	w.Helper()
	if cost > algo.MaxCount {
		return
	}
	wait, sharp := w.oracle.WarmWait(w.Now)
	got := v.Wait
	if !v.Allowed {
		got = w.spec.RetryAfter(v) + max(0, min(patience, algo.MaxAhead))
	}
	if cost == 0 && v.Allowed {
		got = w.spec.ResetAfter(v)
	}
	if d := got - wait; d != 0 && (sharp || d < -1 || d > 1) {
		w.bad("warm_up: wait %d, closed form %d", got, wait)
	}
}

// honest checks RetryAfter by asking again then and a microsecond before.
func (w *walk) honest(before *algo.State, v algo.Verdict, cost, patience int64) {
	w.Helper()
	retry := w.spec.RetryAfter(v)
	if v.Allowed || v.Never {
		if retry != 0 {
			w.bad("RetryAfter %d though there is nothing to retry", retry)
		}
		return
	}
	if retry < 1 {
		w.bad("denied with RetryAfter %d", retry)
	}
	if got := algo.Check(w.spec, before, w.Now+retry, cost, patience); !got.Allowed {
		w.bad("denied again after RetryAfter %d: %+v", retry, got)
	}
	if got := algo.Check(w.spec, before, w.Now+retry-1, cost, patience); got.Allowed {
		w.bad("allowed a microsecond before RetryAfter %d", retry)
	}
}

// judgeRest judges Remaining and ResetAfter of a verdict, and the state's end.
func (w *walk) judgeRest(v algo.Verdict) {
	w.Helper()
	left, reset := w.spec.Remaining(v), w.spec.ResetAfter(v)
	slack := int64(0)
	if w.def.Kind == algo.WarmUp {
		if _, sharp := w.oracle.WarmWait(w.Now); !sharp {
			slack = 1
		}
	} else if want := w.oracle.Remaining(w.Now); left != want {
		w.bad("Remaining %d, oracle %d", left, want)
	}
	if want := w.oracle.Reset(w.Now); reset < want-slack || reset > want+slack {
		w.bad("ResetAfter %d, oracle %d", reset, want)
	}
	w.truthful(left)
	end := max(w.Now, w.state.T) + 1
	for _, cost := range []int64{0, 1, w.oracle.Most()} {
		old, fresh := algo.Check(w.spec, &w.state, end, cost, 0), algo.Check(w.spec, &algo.State{}, end, cost, 0)
		if old != fresh {
			w.bad("past T the state is not as good as zero: cost %d gets %+v, not %+v", cost, old, fresh)
		}
	}
}

// truthful checks Remaining by asking for it, and for one more.
func (w *walk) truthful(left int64) {
	w.Helper()
	patience := int64(0)
	if w.def.Kind == algo.LeakyBucket {
		if w.def.MaxWait > 0 || w.oracle.Reset(w.Now) > algo.MaxAhead {
			return // the wait may bind before the queue does
		}
		patience = forever
	}
	if left < 0 {
		w.bad("Remaining %d", left)
	}
	if left > 0 && !algo.Check(w.spec, &w.state, w.Now, left, patience).Allowed {
		w.bad("Remaining %d is denied", left)
	}
	if w.def.Kind == algo.WarmUp && left > 0 {
		return // any cost is admissible
	}
	if algo.Check(w.spec, &w.state, w.Now, left+1, patience).Allowed {
		w.bad("Remaining %d, and %d is allowed", left, left+1)
	}
}

// peek has the state judged without spending.
func (w *walk) peek() { w.Helper(); w.decide(0, 0) }
