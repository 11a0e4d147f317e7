package floor

import (
	"runtime"
	"sync/atomic"
	"time"
)

// lock is what a state of several words needs to be exact.
type lock struct{ word atomic.Uint32 }

func (l *lock) hold() {
	for !l.word.CompareAndSwap(0, 1) {
		runtime.Gosched()
	}
}

func (l *lock) release() { l.word.Store(0) }

// Subs is the number of sub-windows of a [WindowTable].
const Subs = 10

// window is a sliding window. With its identity it takes two cache lines.
type window struct {
	lock
	end, sum int64 // of the newest sub-window, and of all counts
	counts   [Subs]int64
	_        int64
}

// WindowTable is a flat table of sliding windows.
type WindowTable struct {
	flat[window]
	count, size int64
}

// NewWindowTable returns a table of windows that admit count per period.
func NewWindowTable(count int64, period time.Duration, keys int) *WindowTable {
	return &WindowTable{newFlat[window](keys), count, period.Microseconds() / Subs}
}

// Allow counts one in the key's window if there is room.
func (t *WindowTable) Allow(key string) bool {
	w := t.find(t.identity(key))
	w.hold()
	allowed := t.take(w, t.micros())
	w.release()
	return allowed
}

func (t *WindowTable) take(w *window, now int64) bool {
	if now >= w.end {
		t.turn(w, now)
	}
	if w.sum >= t.count {
		return false
	}
	w.sum++
	w.counts[0]++
	return true
}

// turn lets the sub-windows that began since the last call push out the oldest.
func (t *WindowTable) turn(w *window, now int64) {
	gone := min((now-w.end)/t.size+1, Subs)
	copy(w.counts[gone:], w.counts[:])
	clear(w.counts[:gone])
	w.sum = 0
	for _, n := range w.counts {
		w.sum += n
	}
	w.end = now - now%t.size + t.size
}
