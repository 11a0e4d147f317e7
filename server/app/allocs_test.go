//go:build !race

package app

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
)

// TestRecordAllocs: writing down a decision allocates nothing, but for a block once in 512
// until there are as many as there may be.
func TestRecordAllocs(t *testing.T) {
	r := newRecord(1, time.Hour, now, time.Since)
	c := compile(t, perIP(sluice.PerSecond(1))).Rules()[0]
	event := &engine.Event{Outcomes: []engine.Outcome{{Rule: c, Key: "per-ip|192.0.2.1", Cost: 1, Allowed: true, Enforced: true}}}
	for range 100 * 512 {
		r.Observe(event)
	}
	if n := testing.AllocsPerRun(10_000, func() { r.Observe(event) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := newRecord(32<<20, time.Hour, now, time.Since)
	c := compile(b, perIP(sluice.PerSecond(1))).Rules()[0]
	event := &engine.Event{Outcomes: []engine.Outcome{{Rule: c, Key: "per-ip|192.0.2.1", Cost: 1, Allowed: true, Enforced: true}}}
	b.ReportAllocs()
	for b.Loop() {
		r.Observe(event)
	}
}
