package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestMaxWaiters: those beyond are decided at once, and one key gets a tenth of the
// places.
func TestMaxWaiters(t *testing.T) {
	for _, text := range []string{"fixed_window 5/s", "leaky_bucket 1/s burst=20"} {
		for how, wait := range waysToWait {
			t.Run(text+", "+how, func(t *testing.T) {
				rules := []rule.Rule{waits(perUser("a", text), time.Minute), waits(everybody("all", "fixed_window 1000/s"), time.Minute)}
				inBubble(t, rules, func(t *testing.T, e *engine.Engine) {
					for i := range 11 { // nothing is left of theirs
						for range 5 {
							check(t, e, from(fmt.Sprint("user", i)))
						}
					}
					done := make(chan string)
					ask := func(user, want string) {
						go func() {
							got, _ := wait(t, t.Context(), e, from(user))
							done <- got
						}()
						synctest.Wait()
						got := "held"
						select {
						case got = <-done:
						default:
						}
						if !strings.HasPrefix(got, want) {
							t.Errorf("%s: %s, want %s", user, got, want)
						}
					}
					for i := range 10 {
						ask(fmt.Sprint("user", i), "held")
						ask(fmt.Sprint("user", i), "held")
						ask(fmt.Sprint("user", i), "denied") // a third
					}
					ask("user10", "denied")
					ask("fresh", "allowed")
					for range 20 {
						if got := <-done; !strings.HasPrefix(got, "allowed") {
							t.Error(got)
						}
					}
					for range 5 {
						check(t, e, from("user0"))
					}
					if got, after := wait(t, t.Context(), e, from("user0")); !strings.HasPrefix(got, "allowed") || after == 0 {
						t.Errorf("when they have gone: %s after %v", got, after)
					}
				}, engine.MaxWaiters(20))
			})
		}
	}
}

// TestOneKeyLeavesRoom: a queue takes no more than its limit can admit in time, so that
// one user does not take all places with requests that nothing will come of.
func TestOneKeyLeavesRoom(t *testing.T) {
	for how, wait := range waysToWait {
		t.Run(how, func(t *testing.T) {
			inBubble(t, []rule.Rule{waits(perUser("a", "fixed_window 5/m"), time.Minute)}, func(t *testing.T, e *engine.Engine) {
				for range 5 {
					check(t, e, from("mallory"))
					check(t, e, from("ann"))
				}
				done := make(chan string)
				flood := func(user string, n int) (refused int) {
					for range n {
						go func() {
							got, _ := wait(t, t.Context(), e, from(user))
							done <- user + " " + got
						}()
						synctest.Wait()
						select {
						case <-done:
							refused++
						default:
						}
					}
					return refused
				}
				if n := flood("mallory", 100); n != 90 { // two windows begin within a minute at most
					t.Errorf("%d of 100 are refused", n)
				}
				if n := flood("ann", 3); n != 0 {
					t.Errorf("%d of ann are refused", n)
				}
				allowed := map[string]int{}
				for range 13 {
					allowed[strings.Join(strings.Fields(<-done)[:2], " ")]++
				}
				if allowed["ann allowed"] != 3 || allowed["mallory allowed"] < 5 {
					t.Error(allowed)
				}
			}, engine.MaxWaiters(200))
		})
	}
}
