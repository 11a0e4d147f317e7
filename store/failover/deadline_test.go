package failover

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// TestDeadline: what a store sees of its context, whether it waits for the end or
// only looks, and what is made of it.
func TestDeadline(t *testing.T) {
	const after = 50 * time.Millisecond
	for _, c := range []struct {
		name    string
		callers time.Duration // deadline, 0 for none
		takes   time.Duration
		want    timing
		err     error
	}{
		{"in time", 0, 49 * time.Millisecond, inTime, nil},
		{"late", 0, 50 * time.Millisecond, late, context.DeadlineExceeded},
		{"patient caller", time.Second, 60 * time.Millisecond, late, context.DeadlineExceeded},
		{"caller with most of the time", 30 * time.Millisecond, 31 * time.Millisecond, late, context.DeadlineExceeded},
		{"caller in a hurry", 20 * time.Millisecond, 21 * time.Millisecond, hurried, context.DeadlineExceeded},
		{"caller with no time", 4 * time.Millisecond, 5 * time.Millisecond, inTime, context.DeadlineExceeded},
	} {
		for _, waits := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				if c.callers > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.callers)
					defer cancel()
				}
				d := &deadline{Context: ctx, clock: clock.System(), after: after}
				want := after
				if c.callers > 0 {
					want = min(want, c.callers)
				}
				if at, ok := d.Deadline(); !ok || time.Until(at) != want || d.Err() != nil {
					t.Errorf("%s: %v left, %v, want %v", c.name, time.Until(at), ok, want)
				}
				if waits {
					select {
					case <-d.Done():
					case <-time.After(c.takes + time.Nanosecond):
					}
				} else {
					time.Sleep(c.takes)
				}
				if err := d.Err(); err != c.err {
					t.Errorf("%s: %v, want %v", c.name, err, c.err)
				}
				if got := d.end(); got != c.want {
					t.Errorf("%s, waits %v: %v, want %v", c.name, waits, got, c.want)
				}
				wantEnded(t, d)
			})
		}
	}
}

// wantEnded: whoever still holds the context of a decision that was made sees its end.
func wantEnded(t *testing.T, d *deadline) {
	t.Helper()
	first := d.Err()
	<-d.Done()
	if first == nil || d.Err() != first {
		t.Errorf("after the end: %v, then %v", first, d.Err())
	}
}

// TestDeadlineUnseen: who answers from memory does not look, and who looks after the
// end sees that it has come.
func TestDeadlineUnseen(t *testing.T) {
	d := &deadline{Context: context.Background(), clock: clock.System(), after: time.Minute}
	if got := d.end(); got != unseen {
		t.Errorf("%v, want unseen", got)
	}
	wantEnded(t, d)
}

// TestDeadlineCancelled: a caller that leaves is seen, also by who does not wait, and
// the store is not blamed.
func TestDeadlineCancelled(t *testing.T) {
	for _, waits := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		d := &deadline{Context: ctx, clock: clock.System(), after: time.Minute}
		if waits {
			d.Done()
		}
		if d.Err() != nil {
			t.Error(d.Err())
		}
		cancel()
		if d.Err() != context.Canceled || d.end() != inTime {
			t.Errorf("waits %v: %v", waits, d.Err())
		}
		wantEnded(t, d)
	}
}

// TestDeadlineErrStays: the reason for the end is the first, whatever comes after it.
func TestDeadlineErrStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &deadline{Context: ctx, clock: clock.System(), after: time.Millisecond}
		d.Deadline()
		time.Sleep(time.Millisecond)
		first := d.Err()
		cancel()
		if got := d.Err(); first != context.DeadlineExceeded || got != first || d.end() != late {
			t.Errorf("%v, then %v", first, got)
		}
		wantEnded(t, d)
	})
	synctest.Test(t, func(t *testing.T) {
		d := &deadline{Context: t.Context(), clock: clock.System(), after: time.Millisecond}
		d.Deadline()
		d.end()
		first := d.Err()
		time.Sleep(time.Millisecond)
		<-d.Done()
		if got := d.Err(); first != context.Canceled || got != first {
			t.Errorf("made in time: %v, then %v", first, got)
		}
	})
}
