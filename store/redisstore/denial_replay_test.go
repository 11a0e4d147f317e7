package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestDenialReplay: one process with calls under way in every order, all
// operations and changing limits. Whatever the cache denies, the model in the
// server's place denies too, at that instant.
func TestDenialReplay(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for _, kind := range algotest.Kinds() {
		t.Run(algotest.KindName(kind), func(t *testing.T) {
			hits := 0
			for n := range uint64(algotest.Rounds(750, 20_000)) {
				r := newDenialReplay(t, algotest.Rand(seed+uint64(kind), n), kind)
				for range 300 {
					r.step()
				}
				hits += r.hits
				if t.Failed() {
					t.Fatalf("seed %d, round %d", seed, n)
				}
			}
			if hits == 0 {
				t.Error("the cache has never answered")
			}
		})
	}
}

// denialReplay is a cache before a model, with calls under way.
type denialReplay struct {
	*algotest.Stream
	t     *testing.T
	cache *redisstore.Denials
	model store.Store
	defs  []algo.Spec
	specs []*algo.Spec
	calls []*denialCall
	spent []store.Check
	hits  int
}

// denialCall is a call under way: sent, and, once done, carried out.
type denialCall struct {
	op     store.Op
	sent   int64
	checks []store.Check
	done   bool
}

func newDenialReplay(t *testing.T, rand *rand.Rand, kind algo.Kind) *denialReplay {
	r := &denialReplay{t: t}
	for i, k := range []algo.Kind{kind, kind, algotest.Pick(rand, algotest.Kinds())} {
		def := algotest.RandomSpec(rand, k)
		def.Ordinal = int64(i)
		r.defs = append(r.defs, def)
		r.specs = append(r.specs, denialSpec(t, def))
	}
	age := time.Duration(algotest.LogUniform(rand, int64(time.Hour)))
	r.cache = redisstore.NewDenials(1+rand.IntN(40), age)
	r.Stream = algotest.NewStream(rand, r.defs[0])
	r.model = algotest.NewModel(func() time.Time { return time.UnixMicro(r.Now) })
	return r
}

func denialSpec(t testing.TB, def algo.Spec) *algo.Spec {
	spec, err := algo.Compile(def)
	if err != nil {
		t.Fatalf("%s: %v", algotest.Describe(def), err)
	}
	return spec
}

// step moves the time on and lets one thing happen.
func (r *denialReplay) step() {
	if r.Rand.IntN(3) == 0 {
		r.Step()
	}
	switch n := r.Rand.IntN(10); {
	case n < 4:
		r.ask()
	case n < 6 && len(r.calls) > 0:
		r.carryOut(algotest.Pick(r.Rand, r.calls))
	case n < 9 && len(r.calls) > 0:
		r.finish(r.Rand.IntN(len(r.calls)))
	case r.Rand.IntN(4) == 0:
		i := r.Rand.IntN(len(r.defs))
		r.defs[i] = algotest.RandomChange(r.Rand, r.defs[i])
		r.specs[i] = denialSpec(r.t, r.defs[i])
	default:
		r.giveBack()
	}
}

// ask starts a request, if the cache does not deny it.
func (r *denialReplay) ask() {
	var checks []store.Check
	for range 1 + max(0, r.Rand.IntN(5)-2) {
		cost := min(r.Cost(), algo.MaxCount)
		if r.Rand.IntN(3) == 0 {
			cost = r.Rand.Int64N(4)
		}
		checks = append(checks, store.Check{
			Key: fmt.Sprint("key ", r.Rand.IntN(2)), Spec: algotest.Pick(r.Rand, r.specs), Cost: cost, MaxWait: r.Patience(),
		})
	}
	shade(r.Rand, checks)
	if !redisstore.DenialAnswer(r.cache, r.Now, checks) {
		r.calls = append(r.calls, &denialCall{op: store.Spend, sent: r.Now, checks: checks})
		return
	}
	r.hits++
	if !r.ahead(checks) {
		r.judge(checks)
	}
}

// ahead reports whether the server has done something that we have not heard of and
// that may free budget: it gave something back, or decided by another definition of
// the limit, which cuts a debt that is larger than it allows.
func (r *denialReplay) ahead(checks []store.Check) bool {
	for _, call := range r.calls {
		for _, done := range call.checks {
			for _, c := range checks {
				if call.done && done.Key == c.Key && (call.op != store.Spend || done.Spec != c.Spec) {
					return true
				}
			}
		}
	}
	return false
}

// judge compares a denial by the cache with the model.
func (r *denialReplay) judge(checks []store.Check) {
	want := append([]store.Check(nil), checks...)
	r.take(store.Spend, want)
	denied, all := false, true
	for i, c := range checks {
		p, got, model := c.Spec, c.Verdict, want[i].Verdict
		denied, all = denied || want[i].Refuses(), all && !model.Allowed
		if got.Allowed {
			continue
		}
		if retry := p.RetryAfter(got); model.Allowed || model.Never || retry < 1 || retry > p.RetryAfter(model) {
			r.t.Errorf("%s: check %d of %d, cost %d: denied for %d µs, but the model says %+v",
				algotest.Describe(*p), i+1, len(checks), c.Cost, retry, model)
		}
	}
	if !denied && !all {
		r.t.Errorf("denied what the model allows: %+v", checks)
	}
}

func (r *denialReplay) take(op store.Op, checks []store.Check) {
	if err := r.model.Take(context.Background(), op, checks); err != nil {
		r.t.Fatal(err)
	}
}

func (r *denialReplay) carryOut(call *denialCall) {
	if !call.done {
		r.take(call.op, call.checks)
		call.done = true
	}
}

// finish brings the answer of a call to the process.
func (r *denialReplay) finish(i int) {
	call := r.calls[i]
	r.carryOut(call)
	r.calls = append(r.calls[:i], r.calls[i+1:]...)
	if call.op == store.Spend {
		redisstore.DenialLearn(r.cache, call.sent, call.checks)
		if call.checks[0].Verdict.Allowed {
			r.spent = append(r.spent, call.checks[0])
		}
		return
	}
	for _, c := range call.checks {
		redisstore.DenialDrop(r.cache, r.Now, c.Key)
	}
}

// giveBack starts a call that gives something back.
func (r *denialReplay) giveBack() {
	if len(r.spent) == 0 {
		return
	}
	c := r.spent[len(r.spent)-1]
	r.spent = r.spent[:len(r.spent)-1]
	op := algotest.Pick(r.Rand, []store.Op{store.Refund, store.Refund, store.Reset, store.Cancel})
	r.calls = append(r.calls, &denialCall{op: op, sent: r.Now, checks: []store.Check{c}})
}
