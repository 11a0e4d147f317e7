package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbage is how much may pile up before Go collects it, however little is alive. Every
// request leaves some kilobytes, most of them net/http's: a heap of a few megabytes would
// be collected dozens of times per second, for six percent of the processor time.
const garbage = 32 << 20

// Go collects after garbage of percent/100 of what is alive, and counts what is alive as
// 4 MiB at least: with mostPercent that is our garbage. Large heaps keep Go's own 100.
const (
	leastPercent = 100
	mostPercent  = garbage / (4 << 20) * 100
)

// RelaxCollector lets the collector of this process run less often while the heap is
// small, until the function is called. It is for programs that are a server and nothing
// else. Whoever sets GOGC knows better; a GOMEMLIMIT holds in any case.
func RelaxCollector(env func(string) (string, bool)) (stop func()) {
	if value, _ := env("GOGC"); value != "" {
		return func() {}
	}
	r := &relaxed{percent: leastPercent}
	before := debug.SetGCPercent(leastPercent)
	r.adjust()
	r.afterNext()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over = true
		debug.SetGCPercent(before)
	}
}

// relaxed follows the size of the heap.
type relaxed struct {
	mu      sync.Mutex // guards the rest: it may be stopped at any time
	percent int        // in force
	over    bool
}

// afterNext adjusts after the next collection, and after each one that follows: that is
// when something that nobody needs is cleaned up.
func (r *relaxed) afterNext() {
	unneeded := new(*relaxed)
	runtime.AddCleanup(unneeded, func(r *relaxed) {
		if r.adjust() {
			r.afterNext()
		}
	}, r)
}

// adjust stops the world for a moment, so small differences are left alone. It reports
// whether there is more to come.
func (r *relaxed) adjust() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return false
	}
	wanted := percentFor(sample[0].Value.Uint64())
	if difference := wanted - r.percent; difference > r.percent/10 || -difference > r.percent/10 {
		debug.SetGCPercent(wanted)
		r.percent = wanted
	}
	return true
}

// percentFor returns how much of what is alive may be added as garbage.
func percentFor(alive uint64) int {
	if alive == 0 {
		return mostPercent
	}
	return int(min(max(garbage*100/alive, leastPercent), mostPercent))
}
