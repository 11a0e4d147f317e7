package memstore

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// onePage returns names whose keys lie in one page that never splits, all with
// the same home, so that each is in reach of the others.
func (w *world) onePage(p *algo.Spec, n int) []string {
	first := w.hash.key("first", p.Shape())
	names := []string{"first"}
	for i := 0; len(names) < n; i++ {
		name := fmt.Sprint("n", i)
		k := w.hash.key(name, p.Shape())
		if shardOf[k.hi>>56] == shardOf[first.hi>>56] && k.home(narrow) == first.home(narrow) {
			names = append(names, name)
		}
	}
	return names
}

// atCap fills a store with a cap of memory so far that no page may split.
func atCap(w *world) { w.table.bytes.Store(w.maxBytes) }

// TestIdleGoesFirst: among 32 candidates the one that has been idle longest makes
// room, wherever it lies; then the others that are idle; then the one in deficit
// that is idle soonest.
func TestIdleGoesFirst(t *testing.T) {
	w, p := newWorld(t, MaxBytes(1)), perHour(t, 3600) // one a second
	names := w.onePage(p, reach+4)
	atCap(w)
	for i, name := range names[:reach] {
		cost := int64(100 + (i*7)%reach)
		switch i {
		case 11:
			cost = 2
		case 25:
			cost = 5
		}
		w.spend(name, p, cost)
	}
	w.at.Add(8 * second) // two are idle, but not for long enough to go by themselves
	gone := func(newcomer string) (gone []string) {
		before := w.Stats().Keys
		w.spend(newcomer, p, 3000)
		for _, name := range names[:reach] {
			if w.slotOf(name, p) == nil {
				gone = append(gone, name)
			}
		}
		if got := w.Stats().Keys; got != before {
			t.Errorf("%d keys became %d", before, got)
		}
		return gone
	}
	if got := gone(names[reach]); len(got) != 1 || got[0] != names[11] {
		t.Errorf("gone %v, want %s: idle longest", got, names[11])
	}
	if got := gone(names[reach+1]); len(got) != 2 || w.slotOf(names[25], p) != nil {
		t.Errorf("gone %v, want %s too: idle", got, names[25])
	}
	if got := w.Stats(); got.Forgotten != 0 {
		t.Errorf("%d forgotten, all were idle", got.Forgotten)
	}
	if got := gone(names[reach+2]); len(got) != 3 || w.slotOf(names[0], p) != nil {
		t.Errorf("gone %v, want %s too: idle soonest", got, names[0])
	}
	if got := w.Stats(); got.Forgotten != 1 {
		t.Errorf("%d forgotten, want 1", got.Forgotten)
	}
}

// TestIdleIsReused: a key that has been idle for a while gives its slot to a new
// one, at no cap and without being counted as evicted.
func TestIdleIsReused(t *testing.T) {
	for _, p := range everyKind(t, 10) {
		w := newWorld(t)
		for _, name := range w.onePage(p, reach) {
			w.spend(name, p, 1)
		}
		bytes := w.Stats().Bytes
		w.at.Add(3*hour + grace)
		for _, name := range w.onePage(p, 2*reach)[reach:] {
			w.spend(name, p, 1)
		}
		if got := w.Stats(); got.Keys != reach || got.Evicted != 0 || got.Bytes > bytes {
			t.Errorf("kind %d: %+v, want %d keys and %d bytes", p.Kind, got, reach, bytes)
		}
	}
}

// TestAskedSurvivesFlood: keys that are denied now and then outlive a flood of
// keys whose deficit lasts longer.
func TestAskedSurvivesFlood(t *testing.T) {
	for name, option := range map[string]Option{"bytes": MaxBytes(1), "keys": MaxKeys(2000)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, option)
			drained := perHour(t, 3600)
			flood := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 10 * hour, Burst: 1})
			const planted = 40
			for i := range planted {
				w.spend(fmt.Sprint("drained ", i), drained, 3600)
			}
			for i := range soak(12_000, 3_000_000) {
				w.one(fmt.Sprint("flood ", i), flood, 1, 0)
				if i%100 != 0 {
					continue
				}
				w.at.Add(1000)
				for j := range planted {
					if w.one(fmt.Sprint("drained ", j), drained, 3000, 0).Allowed {
						t.Fatalf("drained key %d is forgotten after %d of the flood: %+v", j, i, w.Stats())
					}
				}
			}
			if got := w.Stats(); got.Evicted < 1000 || got.Forgotten != got.Evicted {
				t.Errorf("stats %+v: the flood is in deficit", got)
			}
		})
	}
}

// TestMarksServeOnce: when all candidates are asked for, the marks are taken away,
// and who asks again gets a new one.
func TestMarksServeOnce(t *testing.T) {
	w, p := newWorld(t, MaxBytes(1)), perHour(t, 10)
	names := w.onePage(p, reach+1)
	atCap(w)
	w.maxed.Store(true)
	for _, name := range names[:reach] {
		w.spend(name, p, 10)
		w.spend(name, p, 1)
		if w.slotOf(name, p).unit.Load()&asked == 0 {
			t.Fatal("a denied key is not marked at the cap")
		}
	}
	w.spend(names[reach], p, 1)
	w.eachSlot(func(_ *page, sl *slot) {
		if sl.unit.Load()&asked != 0 {
			t.Error("a mark stays though all were marked")
		}
	})
	if got := w.Stats(); got.Keys != reach || got.Forgotten != 1 {
		t.Errorf("stats %+v", got)
	}
}

// TestSmallCaps: the number of keys never passes the cap when calls come one by
// one, and each key works while it is there.
func TestSmallCaps(t *testing.T) {
	for _, p := range everyKind(t, 2) {
		for _, n := range []int64{-1, 1, 2, 10} {
			w := newWorld(t, MaxKeys(n))
			for i := range 20 {
				name := fmt.Sprint("k", i)
				if first, second := w.spend(name, p, 1), w.spend(name, p, 1); !first || !second || w.spend(name, p, 1) {
					t.Errorf("kind %d, cap %d: key %d is not limited to 2", p.Kind, n, i)
				}
				if got := w.Stats().Keys; got > max(n, 1) {
					t.Fatalf("kind %d, cap %d: %d keys", p.Kind, n, got)
				}
			}
			st := w.Stats()
			if st.Keys != max(n, 1) || st.Evicted != 20-st.Keys || st.Forgotten != st.Evicted {
				t.Errorf("kind %d, cap %d: %+v", p.Kind, n, st)
			}
		}
	}
}

// TestCallOfKnownKeysEvictsNobody: at the cap of keys, asking for keys that are
// there makes no room for anybody, even while their page splits.
func TestCallOfKnownKeysEvictsNobody(t *testing.T) {
	w, p := newWorld(t, MaxKeys(3)), perHour(t, 10)
	for _, name := range []string{"a", "b", "c"} {
		w.spend(name, p, 1)
	}
	k := w.hash.key("a", p.Shape())
	page := w.table.lockPage(k)
	page.split(k)
	page.mu.Unlock()
	w.add(addition{table: &w.table, key: k, unit: 1, now: 1})
	w.all(store.Check{Key: "a", Spec: p, Cost: 1}, store.Check{Key: "b", Spec: p, Cost: 1})
	if got := w.Stats(); got.Keys != 3 || got.Evicted != 0 {
		t.Errorf("stats %+v", got)
	}
	if got := w.left("a", p); got != 8 {
		t.Errorf("%d remain, want 8", got)
	}
}
