//go:build !race

package memstore

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestBytesAreTrue compares what the store says with what the heap says.
func TestBytesAreTrue(t *testing.T) {
	specs := everyKind(t, 1000)
	log := logOf(t, 1000)
	const most = 6 << 20
	for name, fill := range map[string]func(w *world){
		"words": func(w *world) {
			for i := range 25_000 {
				w.one(fmt.Sprint("k", i), specs[0], 1, 0)
			}
		},
		"all kinds": func(w *world) {
			for i := range 12_000 {
				w.one(fmt.Sprint("k", i), specs[i%8], 1, 0)
			}
		},
		"long logs": func(w *world) {
			for i := range 40_000 {
				w.one(fmt.Sprint("k", i%100), log, 1, 0)
			}
		},
		"logs at the cap": func(w *world) {
			for i := range 400_000 {
				w.one(fmt.Sprint("k", i%6000), log, 1, 0)
			}
		},
		"words at the cap": func(w *world) {
			for i := range 150_000 {
				w.one(fmt.Sprint("k", i), specs[0], 1, 0)
			}
		},
		"reservations": func(w *world) {
			for i := range 15_000 {
				w.take(store.Reserve, store.Check{Key: "k", Spec: specs[3], Cost: 0, ID: fmt.Sprint("id ", i), Hold: hour})
			}
		},
		"reservations with long names": func(w *world) {
			for i := range 3_000 {
				id := strings.Repeat("x", 900) + fmt.Sprint(i)
				w.take(store.Reserve, store.Check{Key: "k", Spec: specs[3], Cost: 0, ID: id, Hold: hour})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			w := newWorld(t, MaxBytes(most))
			fill(w)
			onHeap, said := heap()-before, w.Stats().Bytes
			t.Logf("%d on the heap, %d said", onHeap, said)
			if diff := onHeap - said; diff > onHeap/10 || diff < -onHeap/10 && !strings.Contains(name, "reservations") {
				t.Errorf("%d bytes on the heap, the store says %d", onHeap, said)
			}
			if said > most || onHeap > most*11/10 {
				t.Errorf("%d bytes, the store says %d, the cap is %d", onHeap, said, most)
			}
			runtime.KeepAlive(w)
		})
	}
}

// TestCapHoldsInAnyOrder: memory that states have left is not taken a second time by
// keys of another sort.
func TestCapHoldsInAnyOrder(t *testing.T) {
	const most = 1 << 20
	window := compile(t, algo.Spec{Kind: algo.SlidingWindow, Count: 1000, Period: hour, Sub: 10})
	for _, windowsFirst := range []bool{true, false} {
		before := heap()
		w := newWorld(t, MaxBytes(most))
		windows := func(n int) {
			for i := range n {
				w.one(fmt.Sprint("window ", i), window, 1, 0)
			}
		}
		if windowsFirst {
			windows(7000)
		}
		for i := range 20_000 {
			w.one(fmt.Sprint("k", i), perHour(t, 10), 1, 0)
		}
		if !windowsFirst {
			windows(1000)
		}
		onHeap, said := heap()-before, w.Stats().Bytes
		if said > most || onHeap > most*11/10 {
			t.Errorf("windows first %v: %d bytes, the store says %d, the cap is %d", windowsFirst, onHeap, said, most)
		}
		runtime.KeepAlive(w)
	}
}
