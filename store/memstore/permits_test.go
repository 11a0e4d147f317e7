package memstore

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestPermitsAreForgotten: what was released or has expired takes no memory, and a
// map that was large once is not looked through for ever.
func TestPermitsAreForgotten(t *testing.T) {
	w, p := newWorld(t), compile(t, algo.Spec{Kind: algo.Concurrency, Count: 2})
	c := func(i int) store.Check {
		return store.Check{Key: fmt.Sprint("k", i), Spec: p, Cost: 1, ID: "owner", Hold: hour}
	}
	for i := range 5000 {
		w.take(store.Acquire, c(i))
	}
	full := w.Stats().Bytes
	for i := range 2500 {
		w.take(store.Release, c(i))
	}
	w.at.Add(2 * hour)
	for i := range 2500 { // looks at some of the others each time
		w.take(store.Acquire, c(0))
		w.take(store.Release, c(i))
	}
	if got := w.Stats().Bytes; len(w.permits.all) > 1 || w.permits.most > 1024 || got >= full/2 {
		t.Errorf("%d keys, %d at most, %d bytes of %d", len(w.permits.all), w.permits.most, got, full)
	}
	if w.take(store.Reset, c(0)); len(w.permits.all) != 0 || w.beside.Load() != 0 {
		t.Errorf("%d keys and %d bytes after a reset", len(w.permits.all), w.beside.Load())
	}
}

// TestPermitsAreBounded: a full store refuses permits, and peeks all the same.
func TestPermitsAreBounded(t *testing.T) {
	w, p := newWorld(t, MaxBytes(512<<10)), compile(t, algo.Spec{Kind: algo.Concurrency, Count: 1e6})
	var err error
	n := 0
	for ; err == nil && n < 100_000; n++ {
		err = w.Take(t.Context(), store.Acquire, []store.Check{{Key: "k", Spec: p, Cost: 1, ID: fmt.Sprint(n), Hold: hour}})
	}
	if n == 100_000 || w.Stats().Bytes > 512<<10 {
		t.Errorf("%d permits in %d bytes", n, w.Stats().Bytes)
	}
	w.take(store.Acquire, store.Check{Key: "k", Spec: p, ID: "peek", Hold: 1})
	w.take(store.Release, store.Check{Key: "k", Spec: p, ID: "0"})
	w.take(store.Acquire, store.Check{Key: "k", Spec: p, Cost: 1, ID: "again", Hold: hour})
}
