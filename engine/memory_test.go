package engine_test

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestMemory: the engine's own stores keep their cap, and tell of themselves and of no
// store that was given.
func TestMemory(t *testing.T) {
	set := compile(t, perUser("c", "9/s"), perUser("i", "instance: 9/s"), perUser("s", "split: 9/s"))
	const most = 512 << 10
	given := memstore.New()
	e := open(t, set, given, engine.MaxMemory(most), engine.WithInstance(split.Fixed{Live: 2}), engine.WithClock(newHands().Now)) // which stands still: no bucket is full again
	for i := range 3 {
		check(t, e, from(fmt.Sprint("user", i)))
	}
	if m := e.Memory(); m.Keys != 6 || given.Stats().Keys != 3 {
		t.Errorf("%d own keys and %d given ones, want 6 and 3", m.Keys, given.Stats().Keys)
	}
	for i := range 8_000 {
		check(t, e, from(fmt.Sprint("user", i)))
	}
	if m := e.Memory(); m.Bytes > 2*most || m.Evicted == 0 || m.Forgotten == 0 {
		t.Errorf("beyond the cap: %+v", m)
	}
	alone := open(t, compile(t, perUser("c", "9/s")), nil)
	check(t, alone, from("ann"))
	if m := alone.Memory(); m.Keys != 1 {
		t.Errorf("without a store: %+v", m)
	}
}
