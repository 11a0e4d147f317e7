package memstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// reserve reserves for an hour and reports whether it was allowed.
func (w *world) reserve(c store.Check, id string, cost int64) bool {
	w.Helper()
	c.ID, c.Cost = id, cost
	if c.Hold == 0 {
		c.Hold = hour
	}
	return w.take(store.Reserve, c)[0].Verdict.Allowed
}

func (w *world) commit(c store.Check, id string, cost int64) bool {
	w.Helper()
	c.ID, c.Cost = id, cost
	return w.take(store.Commit, c)[0].Verdict.Allowed
}

// TestReservationOnce: repeated, it spends once; committed, it settles once.
func TestReservationOnce(t *testing.T) {
	for _, p := range everyKind(t, 100) {
		w := newWorld(t)
		c := store.Check{Key: "k", Spec: p}
		for range 3 {
			if !w.reserve(c, "id", 60) {
				t.Errorf("kind %d: denied", p.Kind)
			}
		}
		if got := w.left("k", p); got != 40 {
			t.Errorf("kind %d: %d remain, want 40", p.Kind, got)
		}
		if !w.commit(c, "id", 25) || w.commit(c, "id", 0) || w.commit(c, "other", 0) {
			t.Errorf("kind %d: settled not once", p.Kind)
		}
		if got := w.left("k", p); got != 75 {
			t.Errorf("kind %d: %d remain, want 75", p.Kind, got)
		}
		if got := w.Stats(); got.Reservations != 0 {
			t.Errorf("kind %d: %+v", p.Kind, got)
		}
	}
}

// TestReservationTwiceInOneCall: the second of the same ID in one call is a
// repetition of the first.
func TestReservationTwiceInOneCall(t *testing.T) {
	for _, p := range everyKind(t, 100) {
		w := newWorld(t)
		c := store.Check{Key: "k", Spec: p, Cost: 60, ID: "id", Hold: hour}
		d := c
		d.Cost = 70
		got := w.take(store.Reserve, c, d)
		if !got[0].Verdict.Allowed || got[1].Verdict != got[0].Verdict {
			t.Errorf("kind %d: %+v and %+v", p.Kind, got[0].Verdict, got[1].Verdict)
		}
		if left := w.left("k", p); left != 40 {
			t.Errorf("kind %d: %d remain, want 40", p.Kind, left)
		}
		c.Cost, d.Cost = 0, 0
		if got := w.take(store.Commit, c, d); !got[0].Verdict.Allowed || got[1].Verdict.Allowed {
			t.Errorf("kind %d: settled not once", p.Kind)
		}
		if left := w.left("k", p); left != 100 {
			t.Errorf("kind %d: %d remain, want 100", p.Kind, left)
		}
	}
}

// TestDebtOfForgottenKey: a commit above its estimate is booked though the key has
// been forgotten; one below has nothing to give back.
func TestDebtOfForgottenKey(t *testing.T) {
	for _, p := range everyKind(t, 100) {
		w := newWorld(t, MaxKeys(1))
		c := store.Check{Key: "k", Spec: p}
		w.reserve(c, "more", 10)
		w.reserve(c, "less", 10)
		w.spend("other", p, 1)
		if !w.commit(c, "less", 0) || w.left("k", p) != 100 || w.slotOf("k", p) != nil {
			t.Errorf("kind %d: %d remain of a forgotten key", p.Kind, w.left("k", p))
		}
		if !w.commit(c, "more", 40) || w.left("k", p) != 70 {
			t.Errorf("kind %d: %d remain, want 70", p.Kind, w.left("k", p))
		}
	}
}

// TestFailedCancelLeavesTheUnit: a cancel that gives nothing back, by a limit of
// another unit, does not touch the state.
func TestFailedCancelLeavesTheUnit(t *testing.T) {
	specs := convertible(t)
	w := newWorld(t)
	w.spend("k", specs[1], 7)
	before := w.image("k", specs[1])
	c := store.Check{Key: "k", Spec: specs[0], Cost: 1}
	c.Mark.A = 1
	if w.take(store.Cancel, c)[0].Verdict.Allowed {
		t.Error("a booking that never was is given back")
	}
	if after := w.image("k", specs[1]); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
	if c.Key = "nobody"; w.take(store.Cancel, c)[0].Verdict.Allowed {
		t.Error("a booking of nobody is given back")
	}
}

// TestResetDropsReservations of its key and no other.
func TestResetDropsReservations(t *testing.T) {
	w, p := newWorld(t), perHour(t, 100)
	a, b := store.Check{Key: "a", Spec: p}, store.Check{Key: "b", Spec: p}
	w.reserve(a, "1", 10)
	w.reserve(a, "2", 10)
	w.reserve(b, "1", 10)
	w.take(store.Reset, a)
	if w.commit(a, "1", 0) || w.commit(a, "2", 50) || !w.commit(b, "1", 0) {
		t.Error("reservations were not dropped with their key")
	}
	if w.left("a", p) != 100 || w.Stats().Keys != 1 {
		t.Errorf("%d remain, %+v", w.left("a", p), w.Stats())
	}
}

// TestExpiredAreSwept: expired reservations go as new ones come, some with each;
// no call looks at all of them. The map shrinks with them.
func TestExpiredAreSwept(t *testing.T) {
	w, p := newWorld(t), perHour(t, 1e9)
	c := store.Check{Key: "k", Spec: p, Hold: second}
	const n = 20_000
	for i := range n {
		w.reserve(c, fmt.Sprint("old ", i), 1)
	}
	full := w.Stats()
	w.at.Add(second)
	if w.reserve(c, "old 1", 1); w.Stats().Reservations < n-3 {
		t.Errorf("one call looked at %d", n-w.Stats().Reservations)
	}
	for i := range 4 * n {
		w.reserve(store.Check{Key: "k", Spec: p, Hold: 1}, fmt.Sprint("new ", i), 1)
		w.at.Add(1)
	}
	if got := w.Stats(); got.Reservations > n/100 || got.Bytes > full.Bytes/10 {
		t.Errorf("%+v of %+v", got, full)
	}
	if w.open.most > n/4 {
		t.Errorf("the map still has room for %d", w.open.most)
	}
	if w.commit(c, "old 5", 0) {
		t.Error("an expired reservation was settled")
	}
}

// TestFull: a store without memory refuses reservations, spends nothing for them,
// still repeats those that are open, and has room again when some are gone.
func TestFull(t *testing.T) {
	w, p := newWorld(t, MaxBytes(1)), perHour(t, 1e9)
	c := store.Check{Key: "k", Spec: p, Cost: 1, Hold: hour}
	open := 0
	for ; ; open++ {
		c.ID = fmt.Sprint("id ", open)
		err := w.Take(context.Background(), store.Reserve, []store.Check{c})
		if errors.Is(err, store.ErrFull) {
			break
		}
		if err != nil || open > 10_000 {
			t.Fatalf("%d open: %v", open, err)
		}
	}
	if got := w.Stats(); got.Bytes > w.maxBytes || got.Reservations != int64(open) {
		t.Errorf("%d open: %+v", open, got)
	}
	if got := w.left("k", p); got != 1e9-int64(open) {
		t.Errorf("%d were spent for %d", int64(1e9)-got, open)
	}
	if !w.reserve(store.Check{Key: "k", Spec: p}, "id 0", 1) {
		t.Error("a repetition needs no memory")
	}
	two := []store.Check{c, c}
	two[1].Key = "new"
	if err := w.Take(context.Background(), store.Reserve, two); !errors.Is(err, store.ErrFull) {
		t.Errorf("two for a full store: %v", err)
	}
	w.at.Add(hour)
	if !w.reserve(c, "later", 1) {
		t.Error("no room when all have expired")
	}
}

// TestReservationsAreExact: many reserve, repeat, commit and reset at once. A
// reservation is settled by exactly one commit, and in the end all is back.
func TestReservationsAreExact(t *testing.T) {
	for _, p := range everyKind(t, 100_000) {
		w := newWorld(t)
		a, b := store.Check{Key: "a", Spec: p, Cost: 5, Hold: hour}, store.Check{Key: "b", Spec: p, Cost: 5, Hold: hour}
		var settled atomic.Int64
		ids := soak(200, 10_000)
		crowd(4, func(worker int) {
			for i := range ids {
				x, y := a, b
				x.ID, y.ID = fmt.Sprint(i), fmt.Sprint(i)
				if worker%2 == 0 {
					x, y = y, x
				}
				w.take(store.Reserve, x, y)
				x.Cost, y.Cost = 0, 0
				got := w.take(store.Commit, x, y)
				if got[0].Verdict.Allowed != got[1].Verdict.Allowed {
					t.Errorf("kind %d: half of a pair was settled", p.Kind)
				}
			}
			settled.Add(1)
		})
		for i := range ids {
			a.Cost, a.ID = 0, fmt.Sprint(i)
			b.Cost, b.ID = 0, fmt.Sprint(i)
			w.take(store.Commit, a, b)
		}
		if x, y := w.left("a", p), w.left("b", p); x != 100_000 || y != 100_000 || w.Stats().Reservations != 0 {
			t.Errorf("kind %d: %d and %d remain, %+v", p.Kind, x, y, w.Stats())
		}
	}
}

// TestCommitOfNothingLeavesTheState: a commit by an old limit, in whose unit the
// state is not, settles nothing and changes nothing.
func TestCommitOfNothingLeavesTheState(t *testing.T) {
	w := newWorld(t)
	old := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1_000_000, Period: 1_000_000, Burst: 1000})
	odd := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 999_983, Period: 1_000_000, Burst: 1000})
	w.spend("k", odd, 700)
	before := w.image("k", odd)
	w.take(store.Commit, store.Check{Key: "k", Spec: old, ID: "unknown", Hold: 1})
	if after := w.image("k", odd); after != before || w.left("k", odd) != 300 {
		t.Errorf("%+v became %+v", before, after)
	}
}
