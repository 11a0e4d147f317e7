package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// everybody is a rule without a key.
func everybody(name, text string) rule.Rule { return rule.Rule{Name: name, Limits: limits(text)} }

// TestOneUserHoldsUpNobody: who waits for its own limit has no turn in the queue of one
// that everybody shares.
func TestOneUserHoldsUpNobody(t *testing.T) {
	for how, wait := range waysToWait {
		t.Run(how, func(t *testing.T) {
			rules := []rule.Rule{waits(everybody("all", "fixed_window 3/s"), 30*time.Second), waits(perUser("user", "fixed_window 1/20s"), 30*time.Second)}
			inBubble(t, rules, func(t *testing.T, e *engine.Engine) {
				began := time.Now()
				done := make(chan string, 10)
				start := func(user string) {
					go func() {
						got, _ := wait(t, t.Context(), e, from(user))
						done <- fmt.Sprintf("%s %s %v", user, strings.Fields(got)[0], time.Since(began))
					}()
					synctest.Wait()
				}
				for _, user := range []string{"mallory", "mallory", "a", "b", "c", "mallory", "d"} {
					start(user) // all is used up by mallory, a and b: c waits for that, and so does d
				}
				time.Sleep(5 * time.Second)
				start("e") // everything has room
				var got []string
				for range 6 {
					got = append(got, <-done)
				}
				want := []string{"mallory allowed 0s", "a allowed 0s", "b allowed 0s", "c allowed 1s", "d allowed 1s", "e allowed 5s"}
				slices.Sort(got[3:5]) // at the same time
				if !slices.Equal(got, want) {
					t.Errorf("got  %v\nwant %v", got, want)
				}
				last := []string{<-done, <-done} // for the second, the next window is too late
				slices.Sort(last)
				if !slices.Equal(last, []string{"mallory allowed 20s", "mallory denied 20s"}) {
					t.Error(last)
				}
			})
		})
	}
}

// TestWaitReserveSettles: what was waited for is settled as any reservation, and given
// back in all limits by who leaves.
func TestWaitReserveSettles(t *testing.T) {
	rules := []rule.Rule{
		waits(perUser("book", "leaky_bucket 1/m burst=10"), time.Hour), perUser("count", "fixed_window 100/h"),
		perUser("here", "instance: fixed_window 100/h"),
	}
	inBubble(t, rules, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		before, err := e.Explain(t.Context(), from("ann"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Nanosecond, cancel)
		if res, err := e.WaitReserve(ctx, from("ann")); !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("%v, error %v", res, err)
		}
		after, err := e.Explain(t.Context(), from("ann"))
		if err != nil || states(after) != states(before) {
			t.Errorf("error %v, after leaving\n%s\nwant\n%s", err, states(after), states(before))
		}

		began := time.Now()
		res, err := e.WaitReserve(t.Context(), from("ann"))
		if err != nil || !res.OK() || time.Since(began).Round(time.Second) != time.Minute {
			t.Fatal(res, err, time.Since(began))
		}
		if err := res.Commit(t.Context(), 3); err != nil {
			t.Error(err)
		}
		x, err := e.Explain(t.Context(), from("ann"))
		if err != nil || x.Rules[1].Limits[0].Remaining != 95 || x.Rules[2].Limits[0].Remaining != 95 { // 1 + 3, and what is asked
			t.Errorf("error %v\n%s", err, states(x))
		}
		if err := e.Commit(t.Context(), from("ann"), res.ID, 3); !errors.Is(err, sluice.ErrSettled) {
			t.Error(err)
		}
	})
}

// TestBothWaysOneQueue: Wait and WaitReserve stand in the same queues.
func TestBothWaysOneQueue(t *testing.T) {
	inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 1/s"), time.Minute)}, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		began := time.Now()
		done := make(chan string)
		for _, how := range []string{"Wait", "WaitReserve", "Wait", "WaitReserve"} {
			go func() {
				got, _ := waysToWait[how](t, t.Context(), e, from("ann"))
				done <- fmt.Sprint(how, " ", strings.Fields(got)[0], " ", time.Since(began))
			}()
			synctest.Wait()
		}
		for i, want := range []string{"Wait allowed 1s", "WaitReserve allowed 2s", "Wait allowed 3s", "WaitReserve allowed 4s"} {
			if got := <-done; got != want {
				t.Errorf("%d: %s, want %s", i, got, want)
			}
		}
	})
}

// distant is a store that takes its time.
type distant struct{ store.Store }

func (d distant) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	time.Sleep(10 * time.Millisecond)
	return d.Store.Take(ctx, op, checks)
}

// TestQueueOfRemoteStore: when there is enough again, a queue empties faster than one
// question after the other, and none of those who waited is refused.
func TestQueueOfRemoteStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(compile(t, waits(everybody("all", "fixed_window 1000/s"), 3*time.Second)), distant{memstore.New()})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		began := time.Now()
		done := make(chan string)
		for range 1800 {
			go func() {
				got, _ := held(t, t.Context(), e, from("ann"))
				done <- strings.Fields(got)[0]
			}()
		}
		for range 1800 {
			if got := <-done; got != "allowed" {
				t.Fatal(got)
			}
		}
		if took := time.Since(began); took > 1500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
