package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

func waits(r rule.Rule, d time.Duration) rule.Rule {
	r.Wait = rule.Duration(d)
	return r
}

// inBubble runs a test with an engine whose time is the bubble's.
func inBubble(t *testing.T, rules []rule.Rule, f func(t *testing.T, e *engine.Engine), opts ...engine.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.New(compile(t, rules...), nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		f(t, e)
	})
}

// held waits and tells what came of it, and when.
func held(t *testing.T, ctx context.Context, e *engine.Engine, r engine.Request) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	d, err := e.Wait(ctx, r)
	if err != nil {
		return err.Error(), time.Since(began)
	}
	if d.Wait() != 0 {
		t.Errorf("a wait of %v is still to come", d.Wait())
	}
	return said(d), time.Since(began)
}

// waysToWait are both; they do not differ in when and what.
var waysToWait = map[string]func(*testing.T, context.Context, *engine.Engine, engine.Request) (string, time.Duration){
	"Wait": held,
	"WaitReserve": func(t *testing.T, ctx context.Context, e *engine.Engine, r engine.Request) (string, time.Duration) {
		t.Helper()
		began := time.Now()
		res, err := e.WaitReserve(ctx, r)
		if err != nil {
			return err.Error(), time.Since(began)
		}
		if res.Wait() != 0 {
			t.Errorf("a wait of %v is still to come", res.Wait())
		}
		return said(res.Decision), time.Since(began)
	},
}

// TestWait: each algorithm holds a request until it may go ahead, or refuses at once.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []rule.Rule
		want  []string // of requests one after the other
		after []time.Duration
	}{
		{
			"booking",
			[]rule.Rule{waits(perUser("a", "leaky_bucket 1/s burst=3"), 2*time.Second)},
			[]string{"allowed by a left 3", "allowed by a left 2", "allowed by a left 2"},
			[]time.Duration{0, time.Second, time.Second},
		},
		{
			"window",
			[]rule.Rule{waits(perUser("a", "fixed_window 1/s"), 2*time.Second)},
			[]string{"allowed by a left 0", "allowed by a left 0", "allowed by a left 0"},
			[]time.Duration{0, time.Second, time.Second},
		},
		{
			"no wait",
			[]rule.Rule{perUser("a", "fixed_window 1/s")},
			[]string{"allowed by a left 0", "denied limited by a left 0 retry 1s"},
			[]time.Duration{0, 0},
		},
		{
			"too long, window",
			[]rule.Rule{waits(perUser("a", "fixed_window 1/m"), 2*time.Second)},
			[]string{"allowed by a left 0", "denied limited by a left 0 retry 1m0s"},
			[]time.Duration{0, 0},
		},
		{
			"too long, booking",
			[]rule.Rule{waits(perUser("a", "1/m"), 2*time.Second)},
			[]string{"allowed by a left 0", "denied limited by a left 0 retry 58s"},
			[]time.Duration{0, 0},
		},
		{
			"the longest of several",
			[]rule.Rule{waits(perUser("a", "1/s"), 5*time.Second), waits(perUser("b", "1/2s"), 5*time.Second), waits(perUser("c", "sliding_log 1/3s"), 5*time.Second)},
			[]string{"allowed by a left 0", "allowed by a left 0"},
			[]time.Duration{0, 3 * time.Second},
		},
		{
			"each has its own patience",
			[]rule.Rule{waits(perUser("a", "1/s"), 5*time.Second), waits(perUser("b", "1/2s"), time.Second)},
			[]string{"allowed by a left 0", "denied limited by b left 0 retry 1s"},
			[]time.Duration{0, 0},
		},
		{
			"in shadow nobody waits",
			[]rule.Rule{mode(waits(perUser("a", "leaky_bucket 1/s burst=3"), 2*time.Second), rule.Shadow), mode(waits(perUser("b", "fixed_window 1/s"), time.Second), rule.Shadow)},
			[]string{"allowed", "allowed shadow"},
			[]time.Duration{0, 0},
		},
	} {
		for how, wait := range waysToWait {
			t.Run(c.name+", "+how, func(t *testing.T) {
				inBubble(t, c.rules, func(t *testing.T, e *engine.Engine) {
					for i := range c.want {
						got, after := wait(t, t.Context(), e, from("ann"))
						if got != c.want[i] || after != c.after[i] {
							t.Errorf("request %d: %s after %v\nwant %s after %v", i, got, after, c.want[i], c.after[i])
						}
					}
				})
			})
		}
	}
}

// TestCheckBooks: Check tells who has to be held, or that asking again may help.
func TestCheckBooks(t *testing.T) {
	inBubble(t, []rule.Rule{waits(perUser("a", "leaky_bucket 1/s burst=3"), 2*time.Second)}, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		expect(t, check(t, e, from("ann")), "allowed by a left 2 wait 1s")
	})
	inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 1/s"), 2*time.Second)}, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		expect(t, check(t, e, from("ann")), "denied limited by a left 0 retry 1s waits")
	})
}

// TestWaitInOrder: first come first served, one per second, also past one that leaves
// and one that has no patience.
func TestWaitInOrder(t *testing.T) {
	for _, c := range []struct {
		text string
		at   []time.Duration // seconds
	}{
		{"fixed_window 1/s", []time.Duration{0, 1, 2, 3, 4}},
		{"sliding_log 1/s", []time.Duration{0, 1, 2, 3, 4}},
		{"leaky_bucket 1/s burst=20", []time.Duration{0, 1, 2, 4, 5}}, // others had booked behind the place that was given up
	} {
		t.Run(c.text, func(t *testing.T) {
			inBubble(t, []rule.Rule{waits(perUser("a", c.text), 10*time.Second)}, func(t *testing.T, e *engine.Engine) {
				began := time.Now()
				var order []int
				var at []time.Duration
				done := make(chan int)
				for i := range 6 {
					ctx, cancel := context.WithCancel(t.Context())
					if i == 3 { // leaves at once
						time.AfterFunc(time.Millisecond, cancel)
					}
					go func() {
						defer cancel()
						if _, err := e.Wait(ctx, from("ann")); err != nil {
							i = -1
						}
						done <- i
					}()
					synctest.Wait()
				}
				for range 6 {
					if i := <-done; i >= 0 {
						order, at = append(order, i), append(at, time.Since(began)/time.Second)
					}
				}
				if !slices.Equal(order, []int{0, 1, 2, 4, 5}) || !slices.Equal(at, c.at) {
					t.Errorf("order %v at %v", order, at)
				}
			})
		})
	}
}

// TestWaitOneAsker: of a hundred who wait for one key, one asks.
func TestWaitOneAsker(t *testing.T) {
	rec := &recorder{}
	inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 1/s"), 50*time.Second)}, func(t *testing.T, e *engine.Engine) {
		done := make(chan string)
		for range 101 {
			go func() {
				got, _ := held(t, t.Context(), e, from("ann"))
				done <- got
			}()
			synctest.Wait()
		}
		allowed := 0
		for range 101 {
			if strings.HasPrefix(<-done, "allowed") {
				allowed++
			}
		}
		if allowed < 50 || allowed > 51 {
			t.Errorf("%d were let through in 50 seconds", allowed)
		}
		if rec.count != 101 {
			t.Errorf("%d events for 101 requests", rec.count)
		}
	}, engine.WithObserver(rec))
}

// TestWaitLeaves: who leaves gives the place back, in all limits.
func TestWaitLeaves(t *testing.T) {
	rules := []rule.Rule{
		waits(perUser("book", "1/m"), time.Hour), perUser("count", "fixed_window 100/h"), mode(waits(perUser("soft", "leaky_bucket 1/m burst=10"), time.Hour), rule.Shadow),
		perUser("here", "instance: 100/h"),
	}
	inBubble(t, rules, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		before, err := e.Explain(t.Context(), from("ann"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Nanosecond, cancel)
		d, err := e.Wait(ctx, from("ann"))
		if !errors.Is(err, context.Canceled) || d.Allowed || !strings.HasPrefix(err.Error(), "engine: wait: ") {
			t.Errorf("%s, error %v", said(d), err)
		}
		after, err := e.Explain(t.Context(), from("ann"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := states(after), states(before); got != want {
			t.Errorf("after leaving\n%s\nwant\n%s", got, want)
		}
		if _, err := e.Wait(ctx, from("bob")); !errors.Is(err, context.Canceled) {
			t.Errorf("who has left before: %v", err)
		}
	})
}

// TestWaitLeavesFromTheMiddle: a place that others have booked behind is not given back,
// since the next one would get the time of the last.
func TestWaitLeavesFromTheMiddle(t *testing.T) {
	inBubble(t, []rule.Rule{waits(perUser("a", "leaky_bucket 1/m burst=10"), time.Hour)}, func(t *testing.T, e *engine.Engine) {
		check(t, e, from("ann"))
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := e.Wait(ctx, from("ann"))
			left <- err
		}()
		synctest.Wait()
		expect(t, check(t, e, from("ann")), "allowed by a left 8 wait 2m0s")
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		expect(t, check(t, e, from("ann")), "allowed by a left 7 wait 3m0s")
	})
}

// TestWaitDeadline: a deadline before the time to go ahead is a denial at once.
func TestWaitDeadline(t *testing.T) {
	for _, text := range []string{"leaky_bucket 1/m burst=10", "fixed_window 1/m"} {
		for how, wait := range waysToWait {
			inBubble(t, []rule.Rule{waits(perUser("a", text), time.Hour)}, func(t *testing.T, e *engine.Engine) {
				wait(t, t.Context(), e, from("ann"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if got, after := wait(t, ctx, e, from("ann")); after != 0 || !strings.HasPrefix(got, "denied limited by a") {
					t.Errorf("%s, %s: %s after %v", text, how, got, after)
				}
			})
		}
	}
}

// TestWaitFollowsSwap: who waits goes by the new rules when asking again.
func TestWaitFollowsSwap(t *testing.T) {
	inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 1/m"), time.Hour)}, func(t *testing.T, e *engine.Engine) {
		held(t, t.Context(), e, from("ann"))
		time.AfterFunc(time.Second, func() {
			if err := e.Swap(compile(t)); err != nil {
				t.Error(err)
			}
		})
		if got, _ := held(t, t.Context(), e, from("ann")); got != "allowed" {
			t.Error(got)
		}
	})
}

// TestQueueGivesUpAtOnce: who could not be let through even as the first is not queued.
func TestQueueGivesUpAtOnce(t *testing.T) {
	inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 2/s"), 5*time.Second)}, func(t *testing.T, e *engine.Engine) {
		r := from("ann")
		r.Cost = 2
		held(t, t.Context(), e, r)
		done := make(chan struct{})
		go func() { held(t, t.Context(), e, r); close(done) }()
		synctest.Wait()
		r.Cost = 3
		if got, after := held(t, t.Context(), e, r); after != 0 || got != "denied never by a" {
			t.Errorf("%s after %v", got, after)
		}
		<-done
	})
}
