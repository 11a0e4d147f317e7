package memstore

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// TestHashIdentity: the same name and shape give the same 128 bits in one store
// and others in another; both halves tell names and shapes apart.
func TestHashIdentity(t *testing.T) {
	a, b := newHasher(), newHasher()
	if k := a.key("k", 1); k != a.key("k", 1) || k == b.key("k", 1) {
		t.Error("a key is not the same twice, or foreseeable")
	}
	his, los := map[uint64]bool{}, map[uint64]bool{}
	const n = 20_000
	for i := range n {
		for shape := range uint64(4) {
			k := a.key(fmt.Sprint("k", i), shape)
			his[k.hi], los[k.lo] = true, true
		}
	}
	if len(his) != 4*n || len(los) != 4*n {
		t.Errorf("%d and %d of %d halves are different", len(his), len(los), 4*n)
	}
	x, y := key{1, 2}, key{1, 3}
	if x.compare(y) != -1 || y.compare(x) != 1 || x.compare(x) != 0 || (key{2, 0}).compare(y) != 1 {
		t.Error("keys are not in order")
	}
}

// TestShapesAreSeparate: one name under limits of different shapes has a state
// for each.
func TestShapesAreSeparate(t *testing.T) {
	w := newWorld(t)
	specs := everyKind(t, 10)
	for _, n := range []int64{1, 2} {
		specs = append(specs, compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: hour, Burst: 10, Ordinal: n}))
	}
	for i, p := range specs {
		w.spend("k", p, int64(i))
	}
	for i, p := range specs {
		if got := w.left("k", p); got != 10-int64(i) {
			t.Errorf("limit %d: %d remain, want %d", i, got, 10-i)
		}
	}
	if got := w.Stats().Keys; got != int64(len(specs))-1 {
		t.Errorf("%d keys", got)
	}
}

// TestHalfAnIdentityIsNone: keys that agree in one half only are different keys,
// though they have the same page or the same home.
func TestHalfAnIdentityIsNone(t *testing.T) {
	w, p := newWorld(t), perHour(t, 10)
	keys := []key{{5 << 40, 7 << 50}, {5 << 40, 7<<50 + 1}, {5<<40 + 1, 7 << 50}}
	for i, k := range keys {
		w.Store.take(new(algo.Verdict), k, p, int64(i+1))
	}
	for i, k := range keys {
		var v algo.Verdict
		w.Store.take(&v, k, p, 0)
		if got := p.Remaining(v); got != int64(9-i) {
			t.Errorf("key %d: %d remain, want %d", i, got, 9-i)
		}
	}
}

// TestSwapNoticesAnotherKey: the slot was given to another key with the very same
// word between look and swap. It fails and leaves the word as it was.
func TestSwapNoticesAnotherKey(t *testing.T) {
	w, p := newWorld(t), perHour(t, 10)
	names := w.onePage(p, 2)
	old, other := w.hash.key(names[0], p.Shape()), w.hash.key(names[1], p.Shape())
	w.spend(names[0], p, 1)
	sl, word := w.table.find(old)
	next, _, _ := p.DecideWord(word, start-w.epoch, 1, 0)
	pg := w.table.page(old)
	pg.mu.Lock()
	sl.kill(word)
	w.claim(pg, sl, addition{key: other, unit: p.WordUnit(), word: word})
	pg.mu.Unlock()
	if sl.swap(old, word, next) {
		t.Error("a spend went to another key")
	}
	if got := sl.word.Load(); got != word {
		t.Errorf("another key's word %d became %d", word, got)
	}
	if !sl.swap(other, word, next) || sl.swap(other, word, next) {
		t.Error("the key itself cannot swap, or swaps what has changed")
	}
}

// TestFindReadsItsOwnWord: while a slot goes from key to key, nobody takes one
// key's word for another's.
func TestFindReadsItsOwnWord(t *testing.T) {
	w := newWorld(t)
	keyOf := func(n int64) key { return key{7, uint64(n+1) * uint64(places(narrow))} } // all with one home
	wordOf := func(n int64) uint64 { return 1<<40 + uint64(n) }
	sl, _ := w.Store.add(addition{table: &w.table, key: keyOf(0), unit: 1, word: wordOf(0)})
	pg := w.table.page(keyOf(0))
	var last atomic.Int64
	crowd(3, func(worker int) {
		if worker == 2 {
			for n := range int64(soak(30_000, 3_000_000)) {
				pg.mu.Lock()
				if !sl.kill(wordOf(n)) {
					t.Errorf("the word of key %d became %d", n, sl.word.Load())
				}
				w.claim(pg, sl, addition{key: keyOf(n + 1), unit: 1, word: wordOf(n + 1)})
				pg.mu.Unlock()
				last.Store(n + 1)
			}
			last.Store(-1)
			return
		}
		for n := last.Load(); n >= 0; n = last.Load() {
			if _, got := w.table.find(keyOf(n)); got&moved == 0 && got != wordOf(n) {
				t.Errorf("key %d reads %d", n, got)
				return
			}
		}
	})
}

// TestAbsentIsExact: a key that moves to another page, and whose old slot is taken
// by a third, is never absent.
func TestAbsentIsExact(t *testing.T) {
	w, p := newWorld(t), perHour(t, 10)
	var known atomic.Int64
	crowd(3, func(worker int) {
		if worker == 0 {
			for i := range soak(20_000, 500_000) {
				w.one(fmt.Sprint("k", i), p, 1, 0)
				known.Store(int64(i))
			}
			known.Store(-1)
			return
		}
		for n := int64(worker); ; n += 7 {
			most := known.Load()
			if most < 0 {
				return
			}
			if most == 0 {
				continue
			}
			name := fmt.Sprint("k", n%most)
			if got := p.Remaining(w.one(name, p, 0, 0)); got != 9 {
				t.Errorf("%s: %d remain, want 9", name, got)
				return
			}
		}
	})
}
