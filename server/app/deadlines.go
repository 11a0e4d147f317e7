package app

import (
	"errors"
	"math"
	"os"
	"sync"
	"time"
)

// deadline is a time limit of a connection that is set eagerly and kept lazily. net/http
// moves the limits of a connection eight times per request, nearly always to a later
// time, and each time the runtime changes a timer. Here a later limit is only noted. When
// the timer, which is too early then, wakes who waits, that sets it anew and goes on.
type deadline struct {
	began time.Time             // of the connection; all times below are since then
	arm   func(time.Time) error // sets the connection's own limit

	mu      sync.Mutex    // guards all below
	wanted  time.Duration // the limit
	armed   time.Duration // the connection's own: not after wanted while anybody waits
	waiting int           // calls that may wait
}

// never is the limit that is none.
const never = time.Duration(math.MaxInt64)

func (d *deadline) init(began time.Time, arm func(time.Time) error) {
	d.began, d.arm, d.wanted, d.armed = began, arm, never, never
}

// set moves the limit. One that is over and meets nobody who waits needs no timer: enter
// sees it.
func (d *deadline) set(t time.Time) error {
	at := never
	if !t.IsZero() {
		at = t.Sub(d.began)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = at
	if at >= d.armed || at <= 0 && d.waiting == 0 {
		return nil
	}
	return d.rearm()
}

// rearm makes the connection's own limit the wanted one. The caller holds mu.
func (d *deadline) rearm() error {
	t := time.Time{}
	if d.wanted != never {
		t = d.began.Add(d.wanted)
	}
	d.armed = d.wanted
	return d.arm(t)
}

// enter has to be called before a call that may wait, and leave after it. It fails if the
// limit was set to a time before the connection began, which means at once.
func (d *deadline) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wanted <= 0 {
		return os.ErrDeadlineExceeded
	}
	d.waiting++
	return nil
}

// leave returns whether the call has to be made again: it ended because the timer was too
// early.
func (d *deadline) leave(err error) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || d.wanted != never && time.Since(d.began) >= d.wanted {
		return false
	}
	return d.rearm() == nil
}
