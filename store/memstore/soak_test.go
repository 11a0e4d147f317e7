package memstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestSoakEverythingAtOnce: all operations over all kinds of keys, from many
// goroutines, at a small cap, by a clock that goes on. Nothing blocks, and in the
// end the figures are those of what is there.
func TestSoakEverythingAtOnce(t *testing.T) {
	specs := everyKind(t, 20)
	specs = append(specs, convertible(t)...)
	specs = append(
		specs,
		compile(t, algo.Spec{Kind: algo.LeakyBucket, Count: 20, Period: hour, Burst: 20}),
		compile(t, algo.Spec{Kind: algo.WarmUp, Count: 20, Period: second, Warm: second, Cold: 3}),
	)
	for name, options := range map[string][]Option{
		"keys":  {MaxKeys(50)},
		"bytes": {MaxBytes(1)},
		"both":  {MaxBytes(1 << 20), MaxKeys(3000)},
		"none":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options...)
			crowd(8, func(worker int) {
				r := rand.New(rand.NewPCG(uint64(worker), 9))
				for range soak(600, 500_000) {
					w.at.Add(r.Int64N(3 * second))
					op, checks := randomCall(r, specs)
					_ = w.Take(context.Background(), op, checks) // a full store refuses reservations
				}
			})
			w.checkFigures()
		})
	}
}

func (w *world) checkFigures() {
	w.Helper()
	keys, pages, beside := int64(0), int64(0), int64(0)
	owned := map[uint64]bool{}
	w.eachSlot(func(p *page, sl *slot) {
		keys++
		if sl.word.Load()&held != 0 || sl.unit.Load()&pinned != 0 {
			w.Error("a slot stays held or pinned")
		}
		if unit := sl.unit.Load(); unit&far != 0 {
			if owned[unit&restNumber] {
				w.Error("two slots have the same rest")
			}
			owned[unit&restNumber] = true
			beside += w.rests.at(unit).bytes()
		}
	})
	if c := w.rests.chunks.Load(); c != nil && len(owned)+len(w.rests.free) != len(*c)*restChunk {
		w.Errorf("%d rests owned and %d free of %d", len(owned), len(w.rests.free), len(*c)*restChunk)
	}
	for _, t := range w.tables() {
		for i := range t.shards {
			pages += pathBytes * int64(len(t.shards[i].dir.pages)-1)
		}
	}
	w.eachPage(func(p *page) { pages += pageBytes(p.table.step) })
	for t := range w.open.all {
		beside += t.bytes()
	}
	beside += lineBytes * int64(len(w.open.lines))
	if got := w.keys.Load(); got != keys {
		w.Errorf("%d keys counted, %d there", got, keys)
	}
	if got := w.table.bytes.Load() + w.half.bytes.Load() + w.wide.bytes.Load(); got != pages {
		w.Errorf("%d bytes of pages counted, %d there", got, pages)
	}
	if got := w.beside.Load(); got != beside {
		w.Errorf("%d bytes beside counted, %d there", got, beside)
	}
}

// randomCall draws any operation on a few of many keys.
func randomCall(r *rand.Rand, specs []*algo.Spec) (store.Op, []store.Check) {
	op := []store.Op{
		store.Spend, store.Spend, store.Spend, store.Spend, store.Reserve, store.Commit, store.Refund,
		store.Reset, store.Cancel, store.Lease, store.Return,
	}[r.IntN(11)]
	var checks []store.Check
	for range 1 + max(0, r.IntN(7)-3) {
		name := fmt.Sprint("k", r.IntN(20))
		if r.IntN(3) == 0 {
			name = fmt.Sprint("rare ", r.IntN(100_000))
		}
		checks = append(checks, store.Check{
			Key: name, Spec: specs[r.IntN(len(specs))], Cost: r.Int64N(6), Want: 5, MaxWait: r.Int64N(2) * hour,
			ID: fmt.Sprint(r.IntN(5)), Hold: 1 + r.Int64N(hour),
		})
	}
	return op, checks
}

// TestSoakCap floods a store far beyond its cap: the memory stays, and the keys
// that somebody asks for are remembered.
func TestSoakCap(t *testing.T) {
	const most = 4 << 20
	before := heap()
	w := newWorld(t, MaxBytes(most))
	drained, flood := perHour(t, 100), perHour(t, 10)
	const planted = 200
	for i := range planted {
		w.spend(fmt.Sprint("drained ", i), drained, 100)
	}
	for i := range soak(150_000, 50_000_000) {
		w.one(fmt.Sprint("flood ", i), flood, 1+int64(i%10), 0)
		w.at.Add(10)
		if i%50 == 0 {
			name := fmt.Sprint("drained ", i/50%planted)
			if w.one(name, drained, 100, 0).Allowed {
				t.Fatalf("%s is forgotten after %d", name, i)
			}
		}
	}
	if got := heap() - before; got > most*11/10 || w.Stats().Bytes > most {
		t.Errorf("%d bytes on the heap, %+v", got, w.Stats())
	}
}
