package memstore

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// logOf is a sliding log of n per hour.
func logOf(t testing.TB, n int64) *algo.Spec {
	return compile(t, algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: n, Period: hour}}})
}

// TestLogsAreRelieved: states that grow make room by forgetting others that have
// memory of their own, and no word.
func TestLogsAreRelieved(t *testing.T) {
	w, log, word := newWorld(t, MaxBytes(1<<20)), logOf(t, 10_000), perHour(t, 10)
	const words = 500
	for i := range words {
		w.spend(fmt.Sprint("word ", i), word, 1)
	}
	for i := range 400_000 {
		w.at.Add(1)
		w.one(fmt.Sprint("log ", i%100), log, 1, 0)
		if got := w.Stats().Bytes; got > 1<<20 {
			t.Fatalf("%d bytes after %d", got, i)
		}
	}
	for i := range words {
		if got := w.left(fmt.Sprint("word ", i), word); got != 9 {
			t.Fatalf("a word was forgotten for a log")
		}
	}
	st := w.Stats()
	if st.Evicted == 0 || st.Forgotten != st.Evicted {
		t.Errorf("stats %+v", st)
	}
	logs := int64(0)
	w.eachSlot(func(p *page, sl *slot) {
		if sl.unit.Load()&(near|far) != 0 {
			logs++
		}
	})
	if logs != st.Keys-words {
		t.Errorf("%d of %d keys are logs", logs, st.Keys)
	}
}

// TestPagesFullLeavesRoomBeside: when words have filled the cap, logs and
// reservations still have their share, and evict no word for nothing.
func TestPagesFullLeavesRoomBeside(t *testing.T) {
	w, word, log := newWorld(t, MaxBytes(1<<20)), perHour(t, 10), logOf(t, 100)
	for i := range 60_000 {
		w.one(fmt.Sprint("k", i), word, 1, 0)
	}
	if got := w.Stats().Bytes; got > 1<<20 {
		t.Errorf("%d bytes", got)
	}
	before := w.Stats()
	for i := range 100 {
		if !w.spend("log", log, 1) {
			t.Fatalf("the log lost its room: %d", i)
		}
	}
	if w.spend("log", log, 1) {
		t.Error("the log was forgotten")
	}
	c := store.Check{Key: "k", Spec: word, Cost: 1, ID: "id", Hold: hour}
	if got := w.take(store.Reserve, c); !got[0].Verdict.Allowed {
		t.Error("no room for a reservation")
	}
	if got := w.Stats(); got.Evicted > before.Evicted+2 {
		t.Errorf("%d keys went for a log and a reservation", got.Evicted-before.Evicted)
	}
}

// TestKeysGiveTheirMemoryBack: what a key has beside its slot is free when it is
// reset or dropped.
func TestKeysGiveTheirMemoryBack(t *testing.T) {
	w, log := newWorld(t), logOf(t, 1000)
	names := w.onePage(log, 2)
	for range 10 { // too many for a tail
		w.spend(names[0], log, 1)
	}
	empty := w.Stats().Bytes
	for range 500 {
		w.spend(names[1], log, 1)
	}
	if got := w.Stats().Bytes; got < empty+500*16 {
		t.Errorf("500 entries take %d bytes", got-empty)
	}
	w.take(store.Reset, store.Check{Key: names[1], Spec: log})
	if got := w.Stats(); got.Bytes != empty || got.Keys != 1 {
		t.Errorf("%+v after a reset, want %d bytes", got, empty)
	}
}

// TestWarnsOnceASecond: the log hears of forgotten keys, at most once a second by
// the store's clock, and is called where it may ask the store itself.
func TestWarnsOnceASecond(t *testing.T) {
	var out bytes.Buffer
	var w *world
	p := perHour(t, 10)
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.MessageKey {
				w.one("from the log", p, 1, 0)
			}
			return a
		},
	})
	w = newWorld(t, MaxKeys(5), WithLogger(slog.New(handler)))
	lines := func() int { return strings.Count(out.String(), "\n") }
	for i := range 5 {
		w.spend(fmt.Sprint("k", i), p, 1)
	}
	if lines() != 0 {
		t.Errorf("it warns below the cap: %s", out.String())
	}
	for i := range 100 {
		w.spend(fmt.Sprint("more ", i), p, 1)
		w.at.Add(100_000) // ten in a second
	}
	if got := lines(); got < 9 || got > 10 {
		t.Errorf("%d lines in ten seconds:\n%s", got, out.String())
	}
	if !strings.Contains(out.String(), "forgotten=1 ") || !strings.Contains(out.String(), "keys=") {
		t.Errorf("the log says: %s", out.String())
	}
	for i := range 3 { // idle keys are no reason
		w.at.Add(2 * hour)
		before := lines()
		w.spend(fmt.Sprint("later ", i), p, 1)
		if i > 0 && lines() != before {
			t.Errorf("it warns of an idle key: %s", out.String())
		}
	}
}
