package httplimit

import (
	"fmt"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/internal/clock"
)

// HeldError is the error of a call that was not made because the server has asked not
// to be called for a while, longer than the call can wait.
type HeldError struct {
	Host       string
	RetryAfter time.Duration
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("httplimit: %.64q asked not to be called for another %v", e.Host, e.RetryAfter)
}

// Is makes errors.Is(err, sluice.ErrLimited) true.
func (e *HeldError) Is(target error) bool { return target == sluice.ErrLimited }

// maxHolds is how many hosts are remembered that have asked not to be called.
const maxHolds = 1024

// holds are the hosts that have asked not to be called, and until when.
type holds struct {
	clock *clock.Clock
	mu    sync.Mutex
	until map[string]int64 // guarded by mu; µs by the clock
}

func newHolds() *holds { return &holds{clock: clock.System(), until: map[string]int64{}} }

// left returns for how long host must not be called.
func (h *holds) left(host string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	until, ok := h.until[host]
	if !ok {
		return 0
	}
	left := until - h.clock.Now()
	if left <= 0 {
		delete(h.until, host)
		return 0
	}
	return time.Duration(left) * time.Microsecond
}

// add remembers that host must not be called for d. It never shortens what another
// answer has asked for.
func (h *holds) add(host string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	until, known := h.until[host]
	if !known && len(h.until) >= maxHolds {
		h.forget(now)
	}
	h.until[host] = max(until, now+d.Microseconds())
}

// forget makes room: without those that are over, else without the one that is over
// first. mu is held.
func (h *holds) forget(now int64) {
	first := ""
	for host, until := range h.until {
		if until <= now {
			delete(h.until, host)
		} else if first == "" || until < h.until[first] {
			first = host
		}
	}
	if len(h.until) >= maxHolds {
		delete(h.until, first)
	}
}
