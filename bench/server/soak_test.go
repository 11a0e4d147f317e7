package server

import (
	"os"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// TestSoak keeps the server under full load, for ten minutes if SLUICE_SOAK is set: no
// request fails, and the memory does not grow.
func TestSoak(t *testing.T) {
	rounds, length, slack := 4, 250*time.Millisecond, int64(64<<20) // it has just begun to fill its heap
	if os.Getenv("SLUICE_SOAK") != "" {
		rounds, length, slack = 60, 10*time.Second, 8<<20
	}
	dir := t.TempDir()
	program, err := frame.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir, program: program}
	e, err := b.sluice("sluice", lineup{name: "soak", batch: 1, connections: 16})
	if err != nil {
		t.Fatal(err)
	}
	var settled int64 // most memory in the first quarter of the time
	for i := range rounds {
		if err := e.measure(length); err != nil {
			t.Fatal(err)
		}
		if i < rounds/4 {
			settled = max(settled, e.after)
		}
		if i >= rounds/4 && e.after > settled+slack {
			t.Errorf("after round %d it has %d MiB, and had %d", i+1, e.after>>20, settled>>20)
		}
	}
	if e.errors > 0 {
		t.Errorf("%d of %d requests failed", e.errors, e.requests)
	}
	t.Logf("%d requests, %.0f per second, %d → %d MiB", e.requests, e.rate(), settled>>20, e.after>>20)
	if err := e.close(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
