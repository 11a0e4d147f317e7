package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// lefts is an observer that counts who has left, and whose rules it was about.
type lefts struct {
	mu                     sync.Mutex // guards the rest
	left, rules, undecided int
}

func (l *lefts) Observe(e *engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !e.Left {
		return
	}
	l.left++
	for _, o := range e.Outcomes {
		if l.rules++; o.Undecided && !o.Spent {
			l.undecided++
		}
	}
}

// TestLeft: whoever leaves while waiting, wherever that is, has left and is no error.
func TestLeft(t *testing.T) {
	for name, rules := range map[string][]rule.Rule{
		"in a queue, or before the next try": {waits(perUser("a", "fixed_window 1/m"), time.Hour), perUser("b", "100/s")},
		"held until a booking":               {waits(perUser("a", "leaky_bucket 1/m burst=9"), time.Hour), perUser("b", "100/s")},
	} {
		t.Run(name, func(t *testing.T) {
			seen := &lefts{}
			inBubble(t, rules, func(t *testing.T, e *engine.Engine) {
				check(t, e, from("ann"))
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				done := make(chan error)
				for range 3 {
					go func() {
						_, err := e.Wait(ctx, from("ann"))
						done <- err
					}()
					synctest.Wait()
				}
				for range 3 {
					if err := <-done; !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
				s := e.Stats()
				if s.Errors != 0 || s.Requests != 4 || s.Allowed != 1 || s.Left != 3 || seen.left != 3 {
					t.Errorf("%+v, observed %d", s, seen.left)
				}
				if a := s.Rules[0]; a.CostOffered != 4 || a.CostAdmitted != 1 || a.Undecided != 3 {
					t.Errorf("%+v", a)
				}
			}, engine.WithObserver(seen))
			if seen.rules != 6 || seen.undecided != 6 {
				t.Errorf("%d outcomes, %d undecided", seen.rules, seen.undecided)
			}
		})
	}
}

// TestLeavesACheck: the caller's own context is no fault of the engine, the store's
// failures are.
func TestLeavesACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &lefts{}
		e, err := engine.New(compile(t, perUser("a", "1/m")), broken{store.ErrFull}, engine.WithObserver(seen))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		gone, cancel := context.WithCancel(t.Context())
		if _, err := e.Check(gone, from("ann")); !errors.Is(err, store.ErrFull) {
			t.Error(err)
		}
		cancel()
		if _, err := e.Check(gone, from("ann")); err == nil {
			t.Error("somebody who has gone got an answer")
		}
		if s := e.Stats(); s.Errors != 1 || s.Left != 1 || s.Requests != 2 || seen.left != 1 {
			t.Errorf("%+v, observed %d", s, seen.left)
		}
	})
}
