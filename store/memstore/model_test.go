package memstore_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

const (
	hour = 3600 * 1_000_000
	year = 365 * 24 * hour
)

// jumping is a clock that goes back and forth by up to years, past both ends of
// what fits into a word.
type jumping struct {
	atomic.Int64 // µs
	start        int64
}

func newJumping() *jumping {
	j := &jumping{start: time.Date(2024, 5, 17, 10, 0, 0, 0, time.UTC).UnixMicro()}
	j.Store(j.start)
	return j
}

func (j *jumping) now() time.Time { return time.UnixMicro(j.Load()) }

func (j *jumping) jump(r *rand.Rand, period int64) {
	switch r.IntN(8) {
	case 0:
		j.Store(j.start + r.Int64N(26*year) - 12*year)
	case 1:
		j.Add(algotest.LogUniform(r, 13*year))
	case 2:
		j.Add(-algotest.LogUniform(r, 13*year))
	default:
		j.Add(algotest.LogUniform(r, period+hour))
	}
	if at := j.Load(); at < j.start-20*year || at > j.start+30*year {
		j.Store(j.start)
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

func take(t testing.TB, s store.Store, op store.Op, checks []store.Check) {
	t.Helper()
	if err := s.Take(context.Background(), op, checks); err != nil {
		t.Fatal(err)
	}
}

// TestClockJumpsLikeTheModel: whatever the clock does, every decision is the
// model's.
func TestClockJumpsLikeTheModel(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(400, 100_000)) {
		r := algotest.Rand(seed, n)
		kind := algotest.Pick(r, algotest.Kinds())
		if r.IntN(2) == 0 {
			kind = algo.TokenBucket
		}
		def := algotest.RandomSpec(r, kind)
		at := newJumping()
		mem, model := memstore.New(memstore.WithClock(at.now)), algotest.NewModel(at.now)
		stream := algotest.NewStream(r, def)
		known := map[string]bool{} // what was never there has nothing to give back, and no instant
		for step := range 80 {
			at.jump(r, def.Period)
			if r.IntN(10) == 0 {
				def = algotest.RandomChange(r, def)
			}
			p := compile(t, def)
			got := []store.Check{{Key: "k", Spec: p, Cost: min(stream.Cost(), algo.MaxCount), MaxWait: stream.Patience()}}
			if r.IntN(3) == 0 {
				got[0].MaxWait = 0
			}
			op := store.Spend
			if r.IntN(8) == 0 {
				got = append(got, store.Check{Key: "l", Spec: p, Cost: 1})
			} else if r.IntN(5) == 0 && known["k"] {
				op = store.Refund
			}
			want := append([]store.Check(nil), got...)
			take(t, mem, op, got)
			take(t, model, op, want)
			for i := range got {
				if a, b := seen(&got[i]), seen(&want[i]); op == store.Spend && a != b {
					t.Fatalf("seed %d round %d step %d at %+d years: %s\ngot  %s\nwant %s", seed, n, step,
						(at.Load()-at.start)/year, algotest.Describe(def), a, b)
				}
				known[got[i].Key] = known[got[i].Key] || len(got) == 1 && got[i].Verdict.Allowed && got[i].Cost > 0
			}
		}
	}
}

// TestCellLikeTheModel: a cell decides as the model does.
func TestCellLikeTheModel(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(300, 50_000)) {
		r := algotest.Rand(seed, n)
		def := algotest.RandomSpec(r, algotest.Pick(r, algotest.Kinds()))
		p, at := compile(t, def), newJumping()
		cell, model := memstore.NewCell(p, clock.Func(at.now)), algotest.NewModel(at.now)
		stream := algotest.NewStream(r, def)
		for range 60 {
			at.jump(r, def.Period)
			want, allowed := []store.Check{{Key: "k", Spec: p, Cost: 1}}, false
			if r.IntN(2) == 0 {
				allowed = cell.Allow()
			} else {
				want[0].Cost, want[0].MaxWait = min(stream.Cost(), algo.MaxCount), stream.Patience()
				allowed = cell.Take(want[0].Cost, want[0].MaxWait).Allowed
			}
			take(t, model, store.Spend, want)
			peek := []store.Check{{Key: "k", Spec: p}}
			take(t, model, store.Spend, peek)
			if allowed != want[0].Verdict.Allowed || p.Remaining(cell.Take(0, 0)) != p.Remaining(peek[0].Verdict) {
				t.Fatalf("seed %d round %d: %s: allowed %v, %d remain; want %v, %d", seed, n, algotest.Describe(def),
					allowed, p.Remaining(cell.Take(0, 0)), want[0].Verdict.Allowed, p.Remaining(peek[0].Verdict))
			}
		}
	}
}
