package floor

import (
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func TestStatesFillTheirLines(t *testing.T) {
	if got := unsafe.Sizeof(slot[window]{}); got != 128 {
		t.Errorf("a window's slot has %d bytes", got)
	}
	if got := unsafe.Sizeof(slot[warmth]{}); got != 64 {
		t.Errorf("a warm-up's slot has %d bytes", got)
	}
	if got := unsafe.Sizeof(slot[log]{}); got != 64 {
		t.Errorf("a log's slot has %d bytes", got)
	}
}

// TestWindowsAndLogsCount compares both with a list of all that was admitted.
func TestWindowsAndLogsCount(t *testing.T) {
	const seed = 11
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	const count, size = 7, 1000
	windows, logs := NewWindowTable(count, Subs*size*time.Microsecond, 1), NewLogTable(count, Subs*size*time.Microsecond, 1)
	w, l := new(window), &log{ring: 1}
	var inWindow, inLog []int64
	since := func(all []int64, from int64) (n int64) {
		for _, at := range all {
			if at >= from {
				n++
			}
		}
		return n
	}
	now := int64(1_000_000)
	for range 5000 {
		now += r.Int64N(2 * size)
		if got, want := windows.take(w, now), since(inWindow, now-now%size-(Subs-1)*size) < count; got != want {
			t.Fatalf("window at %d: %v", now, got)
		} else if got {
			inWindow = append(inWindow, now)
		}
		if got, want := logs.take(l, now), since(inLog, now-Subs*size+1) < count; got != want {
			t.Fatalf("log at %d: %v", now, got)
		} else if got {
			inLog = append(inLog, now)
		}
	}
}

// TestWarmUpPrices: from cold to warm it takes the time of the warm-up, for as many
// requests as lie above the threshold; then each takes the stable price.
func TestWarmUpPrices(t *testing.T) {
	table := NewWarmUpTable(100, time.Second, time.Second, 1)
	w, now := new(warmth), 1e6
	for i := range 200 {
		if !table.take(w, now) {
			t.Fatalf("request %d is not let go when its time has come", i)
		}
		if table.take(w, w.next-1) {
			t.Fatalf("request %d may go before its time", i+1)
		}
		if price := w.next - now; i == 0 && price < 2.9*1e4 || i == 199 && math.Abs(price-1e4) > 1e-6 {
			t.Errorf("request %d takes %v µs", i, price)
		}
		if now = w.next; i == int(table.most-table.threshold)-1 && math.Abs(now-2e6) > 1 {
			t.Errorf("warm after %v µs", now-1e6)
		}
	}
}

// TestTablesOfStatesKeepKeysApart: every key has its own state, also when many come for the
// first time at once.
func TestTablesOfStatesKeepKeysApart(t *testing.T) {
	const keys, count, workers = 500, 4, 4
	for name, table := range map[string]interface{ Allow(string) bool }{
		"window": NewWindowTable(count, 240*time.Hour, keys),
		"log":    NewLogTable(count, 240*time.Hour, keys),
	} {
		var admitted atomic.Int64
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for i := range keys * (count + 1) {
					if table.Allow("key " + strconv.Itoa(i%keys)) {
						admitted.Add(1)
					}
				}
			})
		}
		all.Wait()
		if got := admitted.Load(); got != keys*count {
			t.Errorf("%s: %d admitted, want %d", name, got, keys*count)
		}
	}
}
