package memstore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// duel is a store that goes the short way where it can, and one that never does.
type duel struct {
	short, long *world
	specs       []*algo.Spec
	*rand.Rand
}

func newDuel(t *testing.T, r *rand.Rand) *duel {
	d := &duel{newWorld(t), newWorld(t), convertible(t), r}
	d.long.hash = d.short.hash
	for _, n := range []int64{1, 5, 60, 7_000} {
		d.specs = append(d.specs, perHour(t, n), compile(t, algo.Spec{
			Kind: algo.TokenBucket, Count: n, Period: second, Burst: 3, MaxWait: 2 * second,
		}))
	}
	if r.IntN(2) == 0 { // denials leave marks
		d.short.maxed.Store(true)
		d.long.maxed.Store(true)
	}
	return d
}

// draw draws a call, whose last checks may be shadows.
func (d *duel) draw() []store.Check {
	checks := make([]store.Check, 1+d.IntN(few+1))
	shadows := d.IntN(len(checks) + 1)
	for i := range checks {
		key := d.IntN(12)
		checks[i] = store.Check{Key: fmt.Sprint("k", key), Spec: d.specs[key%len(d.specs)], Cost: d.Int64N(5), Shadow: i >= shadows}
		if d.IntN(30) == 0 { // in the unit of another
			checks[i].Spec = d.specs[d.IntN(len(d.specs))]
		}
		if d.IntN(3) == 0 {
			checks[i].MaxWait = d.Int64N(3 * second)
		}
		if d.IntN(50) == 0 {
			checks[i].Cost = algo.MaxCount
		}
		if d.IntN(4) == 0 { // as in a lease, which needs its mark
			checks[i].Want = 5
		}
	}
	return checks
}

// images are the slots of all keys.
func (d *duel) images(w *world) (all []image) {
	for key := range 12 {
		for _, p := range d.specs {
			all = append(all, w.image(fmt.Sprint("k", key), p))
		}
	}
	return all
}

// move lets time pass, mostly forwards, and sometimes gives something back.
func (d *duel) move() {
	by := d.Int64N(1 << d.IntN(32))
	if d.IntN(20) == 0 {
		by = -by
	}
	if d.IntN(300) == 0 {
		by = 12 * year // words end
	}
	c := d.draw()[:1]
	for _, w := range []*world{d.short, d.long} {
		w.at.Add(by)
		if by%7 == 0 {
			w.take(store.Refund, slices.Clone(c)...)
		}
	}
}

// forgetMarks takes away those that nobody asks for, of which the short way makes none.
func forgetMarks(checks []store.Check) {
	for i := range checks {
		if c := &checks[i]; c.MaxWait == 0 && c.Want == 0 {
			c.Mark = algo.Mark{}
		}
	}
}

// TestFewLikeSeveral: the short way gives the same answers as the long one, to the
// last field, and leaves the same in every slot.
func TestFewLikeSeveral(t *testing.T) {
	seed := rand.Uint64()
	short := 0
	rounds := soak(15, 5000)
	for round := range rounds {
		d := newDuel(t, rand.New(rand.NewPCG(seed, uint64(round))))
		for step := range 200 {
			got := d.draw()
			want, before := slices.Clone(got), d.images(d.short)
			if d.short.takeFew(got) {
				short++
			} else {
				if after := d.images(d.short); !slices.Equal(after, before) {
					t.Fatalf("seed %d, round %d, step %d: not decided, but written", seed, round, step)
				}
				d.short.takeSeveral(got)
			}
			d.long.takeSeveral(want)
			forgetMarks(got)
			forgetMarks(want)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d, step %d:\ngot  %+v\nwant %+v", seed, round, step, got, want)
			}
			if got, want := d.images(d.short), d.images(d.long); !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d, step %d, after %+v:\ngot  %x\nwant %x", seed, round, step, got, got, want)
			}
			d.move()
		}
	}
	if short < rounds { // far more, unless words end early in every round
		t.Errorf("only %d calls went the short way", short)
	}
}

// TestFewHoldInTheOrderOfAll: another order than that of the long way would be a
// circle in which two calls wait for each other.
func TestFewHoldInTheOrderOfAll(t *testing.T) {
	for n := range few + 1 {
		for range 200 {
			var h handful
			for i := range n {
				h.keys[i] = key{rand.Uint64(), rand.Uint64()}
			}
			if !h.sort(n) {
				t.Fatalf("%x are said to be the same", h.keys[:n])
			}
			order := h.order[:n]
			if !slices.IsSortedFunc(order, func(a, b uint8) int { return h.keys[a].compare(h.keys[b]) }) {
				t.Fatalf("%x are held in the order %d", h.keys[:n], order)
			}
			if slices.Sort(order); n > 1 && (order[0] != 0 || len(slices.Compact(order)) != n) {
				t.Fatalf("the order is %d", order)
			}
		}
	}
	if h := (handful{keys: [few]key{{5, 1}, {7, 1}, {5, 2}}}); h.sort(3) {
		t.Error("equal keys go the short way")
	}
}

// TestFewLetGoOfAll: a call that meets a dead slot after it has found all changes
// nothing, and holds nothing.
func TestFewLetGoOfAll(t *testing.T) {
	p := perHour(t, 10)
	checks := []store.Check{{Key: "a", Spec: p, Cost: 1}, {Key: "b", Spec: p, Cost: 1}, {Key: "c", Spec: p, Cost: 1}}
	for dead := range checks {
		w := newWorld(t)
		w.take(store.Spend, checks...)
		var h handful
		h.hash(w.Store, checks)
		if !h.sort(3) || !h.find(3) {
			t.Fatal("a key has no slot")
		}
		w.drop(h.slots[dead])
		before := [...]image{w.image("a", p), w.image("b", p), w.image("c", p)}
		if h.hold(3) {
			t.Fatal("a dead slot was held")
		}
		if after := [...]image{w.image("a", p), w.image("b", p), w.image("c", p)}; after != before {
			t.Errorf("%x became %x", before, after)
		}
		if !w.all(checks...) {
			t.Error("what is left after a reset and one call of ten is denied")
		}
	}
}

// triplets are three token buckets that are changed together, two of them enforced
// and one a shadow that has more.
type triplets struct {
	*world
	p, q *algo.Spec
}

func (w *triplets) checks(r *rand.Rand, cost int64) []store.Check {
	c := []store.Check{{Key: "a", Spec: w.p, Cost: cost}, {Key: "b", Spec: w.p, Cost: cost}, {Key: "shadow", Spec: w.q, Cost: cost, Shadow: true}}
	if r.IntN(2) == 0 {
		c[0], c[1] = c[1], c[0]
	}
	return c
}

// observe looks at all three at once, on either way.
func (w *triplets) observe(r *rand.Rand) {
	c := w.checks(r, 0)
	if r.IntN(2) == 0 {
		w.takeSeveral(c)
	} else {
		w.takeAll(c)
	}
	left := [3]int64{}
	for i := range c {
		left[i] = c[i].Spec.Remaining(c[i].Verdict)
	}
	if left[0] != left[1] || left[2] != left[0]+1000 {
		w.Errorf("seen together, there remain %d", left)
	}
}

// TestFewNobodySeesHalf: calls of both ways, refunds and resets, while the table
// grows, or keys give way at the cap, around them.
func TestFewNobodySeesHalf(t *testing.T) {
	brief := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1, Burst: 1})
	for name, options := range map[string][]Option{"growing": nil, "at the cap": {MaxBytes(1)}, "at the cap of keys": {MaxKeys(500)}} {
		t.Run(name, func(t *testing.T) {
			w := &triplets{newWorld(t, options...), perHour(t, 1000), perHour(t, 2000)}
			crowd(6, func(worker int) {
				r := rand.New(rand.NewPCG(uint64(worker), 5))
				for n := range soak(1000, 300_000) {
					switch {
					case worker < 2:
						w.observe(r)
					case worker == 2:
						for i := range 8 {
							w.one(fmt.Sprint("noise ", n, i), brief, 1, 0)
						}
					case r.IntN(100) == 0:
						w.take(store.Reset, w.checks(r, 0)...)
					case r.IntN(4) == 0:
						w.take(store.Refund, w.checks(r, 1+r.Int64N(3))...)
					default:
						w.take(store.Spend, w.checks(r, 1+r.Int64N(3))...)
					}
				}
			})
			w.observe(rand.New(rand.NewPCG(1, 1)))
			w.checkFigures()
			if got := w.Stats().Evicted; got == 0 && options != nil {
				t.Error("the cap was not reached")
			}
		})
	}
}

// TestFewLoseNothing: overlapping sets in all orders, with shadows and singles among
// them, while the table grows around them or keys give way. All calls end, and each
// key has what was not spent.
func TestFewLoseNothing(t *testing.T) {
	brief := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1, Burst: 1})
	for name, options := range map[string][]Option{"growing": nil, "at the cap": {MaxBytes(1)}} {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(t, options...), perHour(t, 3000)
			const keys = 24
			var spent [keys]atomic.Int64
			crowd(8, func(worker int) {
				r := rand.New(rand.NewPCG(uint64(worker), 7))
				for n := range soak(800, 100_000) {
					which := r.Perm(keys)[:1+r.IntN(few)]
					checks := make([]store.Check, len(which))
					shadows := r.IntN(len(which) + 1)
					for i, k := range which {
						checks[i] = store.Check{Key: fmt.Sprint("k", k), Spec: p, Cost: r.Int64N(8), Shadow: i >= shadows}
					}
					w.takeAll(checks)
					refused := slices.ContainsFunc(checks, func(c store.Check) bool { return c.Refuses() })
					for i, k := range which {
						if !refused && checks[i].Verdict.Allowed {
							spent[k].Add(checks[i].Cost)
						}
					}
					w.one(fmt.Sprint("noise ", worker, n), brief, 1, 0)
				}
			})
			for k := range spent {
				if got, want := w.left(fmt.Sprint("k", k), p), 3000-spent[k].Load(); got != want {
					t.Errorf("key %d: %d remain, want %d", k, got, want)
				}
			}
			w.checkFigures()
			if got := w.Stats().Evicted; got == 0 && options != nil {
				t.Error("the cap was not reached")
			}
		})
	}
}
