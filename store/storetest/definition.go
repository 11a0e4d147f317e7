package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// longest is how far a world's clock goes from its start, in µs: eight years.
const longest = 8 * 365 * 24 * 3600 * 1_000_000

// judged is a key whose every answer is compared with the oracle's.
type judged struct {
	*world
	*algotest.Stream
	key    string
	spec   *algo.Spec
	oracle *algotest.Oracle
	trace  []string
}

func (w *world) judge(r *rand.Rand, key string, def algo.Spec) *judged {
	stream := algotest.NewStream(r, def)
	stream.Now = w.clock.Load()
	return &judged{world: w, Stream: stream, key: key, spec: compile(w, def), oracle: algotest.NewOracle(def)}
}

func (j *judged) note(format string, args ...any) {
	j.trace = append(j.trace, fmt.Sprintf("at +%dµs: ", j.clock.Load()-start)+fmt.Sprintf(format, args...))
}

// bad reports a failure with the last steps.
func (j *judged) bad(format string, args ...any) {
	j.Helper()
	last := j.trace[max(0, len(j.trace)-20):]
	j.Fatalf("%s\nlimit %s\n%s", fmt.Sprintf(format, args...), algotest.Describe(j.oracle.Def), strings.Join(last, "\n"))
}

// ask spends or peeks, and has the answer judged.
func (j *judged) ask(cost, patience int64) {
	j.Helper()
	now := j.clock.Load()
	want := j.oracle.Ask(now, cost, patience)
	v := j.take(store.Spend, store.Check{Key: j.key, Spec: j.spec, Cost: cost, MaxWait: patience})[0].Verdict
	j.note("cost %d max wait %d: %+v, want %+v", cost, patience, v, want)
	if v.Allowed != want.Allowed || v.Never != want.Never || j.spec.RetryAfter(v) != want.Retry ||
		cost > 0 && v.Wait != want.Wait {
		j.bad("got %+v (retry after %d), want %+v", v, j.spec.RetryAfter(v), want)
	}
	if v.Allowed {
		j.oracle.Admit(now, cost)
	}
	if got, want := j.spec.Remaining(v), j.oracle.Remaining(now); got != want {
		j.bad("Remaining %d, want %d", got, want)
	}
	if got, want := j.spec.ResetAfter(v), j.oracle.Reset(now); got != want {
		j.bad("ResetAfter %d, want %d", got, want)
	}
}

// testDefinition sends random streams to one key after the other and has every
// answer judged by the definition.
func testDefinition(t testing.TB, s *suite) {
	seed := algotest.Seed(t, s.seed)
	for _, kind := range algotest.Kinds() {
		if kind == algo.WarmUp {
			continue // floating point: the scripts and the model judge it
		}
		for n := range uint64(algotest.Rounds(60, 5_000)) {
			r := algotest.Rand(seed, n)
			w := s.world(t)
			w.TB = named{t, fmt.Sprintf("seed %d round %d", seed, n)}
			w.judge(r, "k", bookable(r, kind)).walk()
			if t.Failed() {
				return
			}
		}
	}
}

// bookable draws a definition without calendar boundaries, which would lie far
// away from the world's clock.
func bookable(r *rand.Rand, kind algo.Kind) algo.Spec {
	for {
		if def := algotest.RandomSpec(r, kind); def.Bounds == nil {
			return def
		}
	}
}

// walk sends sixty requests and refunds.
func (j *judged) walk() {
	j.Helper()
	for range 60 {
		if j.Step() > start+longest {
			return
		}
		j.clock.Store(j.Now)
		if cost := j.Cost(); j.Rand.IntN(10) > 0 {
			j.ask(cost, j.Patience())
		} else if cost > 0 {
			j.note("refund %d", cost)
			j.take(store.Refund, store.Check{Key: j.key, Spec: j.spec, Cost: cost})
			j.oracle.Refund(j.clock.Load(), cost)
			j.ask(0, 0)
		}
	}
}

// testSeveral sends calls of several checks, some of them of the same key and
// limit: allowed only if all are, and then spent everywhere; else nowhere. Shadows
// do not count for that, and are spent where they are allowed themselves.
func testSeveral(t testing.TB, s *suite) {
	seed := algotest.Seed(t, s.seed)
	for n := range uint64(algotest.Rounds(100, 10_000)) {
		r := algotest.Rand(seed, n)
		w := s.world(t)
		w.TB = named{t, fmt.Sprintf("seed %d round %d", seed, n)}
		var pool []*judged
		for i, def := range hundreds() {
			pool = append(pool, w.judge(r, fmt.Sprint("k", i%3), def))
		}
		for range 40 {
			w.clock.Add(r.Int64N(200e6))
			w.askSeveral(r, pool)
			if t.Failed() {
				return
			}
		}
	}
}

// askSeveral makes one call and has it judged.
func (w *world) askSeveral(r *rand.Rand, pool []*judged) {
	w.Helper()
	var asked []*judged
	var checks []store.Check
	for range 1 + r.IntN(4) {
		j := algotest.Pick(r, pool)
		asked = append(asked, j)
		checks = append(checks, store.Check{Key: j.key, Spec: j.spec, Cost: r.Int64N(40)})
	}
	shade(r, checks)
	now, all := w.clock.Load(), true
	before := make([]int, len(asked))
	var want []bool
	for i, j := range asked { // one after the other, each after what those before it took
		before[i] = len(j.oracle.Log)
		ok := j.oracle.Ask(now, checks[i].Cost, 0).Allowed
		want, all = append(want, ok), all && (ok || checks[i].Shadow)
		if ok {
			j.oracle.Admit(now, checks[i].Cost)
		}
	}
	if !all {
		for i, j := range slices.Backward(asked) {
			j.oracle.Log = j.oracle.Log[:before[i]]
		}
	}
	w.take(store.Spend, checks...)
	for i, j := range asked {
		j.note("cost %d as check %d of %d: %+v", checks[i].Cost, i+1, len(asked), checks[i].Verdict)
		if got := checks[i].Verdict.Allowed; got != want[i] {
			j.bad("check %d of %d: allowed %v, want %v", i+1, len(asked), got, want[i])
		}
	}
	for _, j := range asked {
		if got, want := w.left(j.key, j.spec), j.oracle.Remaining(now); got != want {
			j.bad("%d remain, want %d; all allowed %v", got, want, all)
		}
	}
}

// testSameKeyTwice: two checks of one key and shape in one call share its state.
func testSameKeyTwice(t testing.TB, s *suite) {
	s.eachHundred(t, func(w *world, p *algo.Spec) {
		two := func(a, b int64) (bool, bool) {
			c := w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: a}, store.Check{Key: "k", Spec: p, Cost: b})
			return c[0].Verdict.Allowed, c[1].Verdict.Allowed
		}
		if p.Kind == algo.LeakyBucket {
			return // only the first would go without waiting
		}
		if a, b := two(60, 40); !a || !b {
			w.Errorf("60 and 40 of 100: %v and %v", a, b)
		}
		w.wantLeft("k", p, 0, "after 60 and 40")
		w.take(store.Reset, store.Check{Key: "k", Spec: p})
		if a, b := two(60, 41); !a || b {
			w.Errorf("60 and 41 of 100: %v and %v", a, b)
		}
		w.wantLeft("k", p, 100, "after 60 and 41 were denied together")
	})
}
