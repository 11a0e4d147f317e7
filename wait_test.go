package sluice_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
)

// line starts waiters one after the other and notes who was let through when.
type line struct {
	mu    sync.Mutex
	begin time.Time
	done  []string
	times []time.Duration
	errs  map[string]error
}

func newLine() *line { return &line{begin: time.Now(), errs: map[string]error{}} }

// wait starts a waiter and returns when it blocks or is through.
func (l *line) wait(name string, f func() error) {
	go func() {
		err := f()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.errs[name] = err; err == nil {
			l.done = append(l.done, name)
			l.times = append(l.times, time.Since(l.begin))
		}
	}()
	synctest.Wait()
}

func (l *line) order() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.done, "")
}

func (l *line) err(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errs[name]
}

// TestWaitIsFirstComeFirstServed for those that book and those that queue.
func TestWaitIsFirstComeFirstServed(t *testing.T) {
	for _, text := range algorithms {
		text = strings.Replace(text, "10/s", "1/s", 1)
		text = strings.Replace(text, "leaky_bucket 1/s", "leaky_bucket 1/s burst=100", 1) // room for all
		for _, kind := range []string{"Limiter", "Keyed"} {
			t.Run(kind+" "+text, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					limiter := sluice.NewLimiter(sluice.MustParse(text))
					users := sluice.NewKeyed(sluice.MustParse(text))
					line := newLine()
					for _, name := range strings.Split("abcdefgh", "") {
						line.wait(name, func() error {
							if kind == "Keyed" {
								return users.Wait(t.Context(), "ann")
							}
							return limiter.Wait(t.Context())
						})
					}
					time.Sleep(time.Minute)
					synctest.Wait()
					if got := line.order(); got != "abcdefgh" || !slices.IsSorted(line.times) {
						t.Errorf("got %q at %v", got, line.times)
					}
					if n := len(line.times); n < 8 || line.times[n-1] < 6*second || line.times[n-1] > 15*second {
						t.Errorf("not one per second: %v", line.times)
					}
				})
			})
		}
	}
}

func TestWaitTakesAsLongAsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.PerSecond(10))
		begin := time.Now()
		for range 25 {
			if err := l.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(begin); got != 1500*ms {
			t.Errorf("25 of 10/s took %v, want 1.5s", got)
		}
		if err := l.WaitN(t.Context(), 5); err != nil || time.Since(begin) != 2*second {
			t.Errorf("5 more: %v after %v, want 2s", err, time.Since(begin))
		}
	})
}

// TestNobodyOvertakes: a small cost waits behind a large one that came first.
func TestNobodyOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.MustParse("fixed_window 10/s"))
		line := newLine()
		for _, c := range []struct {
			name string
			n    int
		}{{"a", 6}, {"b", 8}, {"c", 2}, {"d", 10}, {"e", 1}} {
			line.wait(c.name, func() error { return l.WaitN(t.Context(), c.n) })
		}
		if got := line.order(); got != "a" {
			t.Errorf("at once: %q, want a", got)
		}
		time.Sleep(10 * second)
		if got := line.order(); got != "abcde" {
			t.Errorf("got %q", got)
		}
	})
}

// TestWaitRefusesAtOnce: nobody waits for a deadline to learn that it is too soon.
func TestWaitRefusesAtOnce(t *testing.T) {
	for _, text := range algorithms {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := sluice.NewLimiter(sluice.MustParse(text))
				users := sluice.NewKeyed(sluice.MustParse(text))
				for l.Allow() {
				}
				for d, _ := users.Allow(t.Context(), "ann"); d.Allowed; d, _ = users.Allow(t.Context(), "ann") {
				}
				before := l.Decide(1)
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), before.RetryAfter()-time.Microsecond)
				defer cancel()
				for _, err := range []error{l.Wait(ctx), users.Wait(ctx, "ann")} {
					var limited *sluice.LimitedError
					if !errors.As(err, &limited) || !errors.Is(err, sluice.ErrLimited) || time.Since(begin) != 0 {
						t.Fatalf("got %v after %v", err, time.Since(begin))
					}
					if limited.Decision.Allowed || !strings.Contains(err.Error(), "retry after") {
						t.Errorf("got %v", err)
					}
				}
				if after := l.Decide(1); after.RetryAfter() != before.RetryAfter() {
					t.Errorf("the refusal spent something: retry after %v, before %v", after.RetryAfter(), before.RetryAfter())
				}
				ctx, cancel = context.WithTimeout(t.Context(), before.RetryAfter())
				defer cancel()
				if err := l.Wait(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a deadline that is just met: %v", err)
				}
			})
		})
	}
}

func TestCancelledWaitGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.PerSecond(1))
		users := sluice.NewKeyed(sluice.PerSecond(1), sluice.WithLimits(sluice.PerMinute(60)))
		l.Allow()
		users.Allow(t.Context(), "ann")
		for range 3 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, nil)
			line := newLine()
			line.wait("a", func() error { return l.Wait(ctx) })
			line.wait("b", func() error { return users.Wait(ctx, "ann") })
			cancel()
			synctest.Wait()
			if !errors.Is(line.err("a"), context.Canceled) || !errors.Is(line.err("b"), context.Canceled) {
				t.Fatalf("got %v and %v", line.err("a"), line.err("b"))
			}
		}
		r := l.Reserve()
		rk, err := users.Reserve(t.Context(), "ann", 1)
		if r.Delay() != second || err != nil || rk.Delay() != second {
			t.Errorf("the next one waits for %v and %v (%v), want 1s", r.Delay(), rk.Delay(), err)
		}
	})
}

// TestCancelledWaitBeforeOthers: the place is not given back, since the one
// behind it was told its time already.
func TestCancelledWaitBeforeOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sluice.NewLimiter(sluice.PerSecond(1))
		l.Allow()
		ctx, cancel := context.WithCancel(t.Context())
		line := newLine()
		line.wait("a", func() error { return l.Wait(ctx) })
		line.wait("b", func() error { return l.Wait(t.Context()) })
		cancel()
		synctest.Wait()
		if got := l.Reserve().Delay(); got != 3*second {
			t.Errorf("the third waits for %v, want 3s", got)
		}
		time.Sleep(2 * second)
		synctest.Wait()
		if line.order() != "b" || line.times[0] != 2*second {
			t.Errorf("got %q at %v, want b at 2s", line.order(), line.times)
		}
	})
}

// TestQueueSurvivesCancellation: whoever gives up leaves no hole in the queue,
// the head while it sleeps and those in the middle.
func TestQueueSurvivesCancellation(t *testing.T) {
	for _, gone := range []string{"a", "b", "ab", "d", "bd", "abcde"} {
		t.Run(gone, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				users := sluice.NewKeyed(sluice.MustParse("sliding_log 1/s"))
				users.Allow(t.Context(), "ann")
				line, want := newLine(), ""
				cancels := map[string]context.CancelFunc{}
				for _, name := range strings.Split("abcde", "") {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					cancels[name] = cancel
					line.wait(name, func() error { return users.Wait(ctx, "ann") })
					if !strings.Contains(gone, name) {
						want += name
					}
				}
				for _, name := range strings.Split(gone, "") {
					cancels[name]()
				}
				time.Sleep(6 * second)
				synctest.Wait()
				if got := line.order(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				for i, at := range line.times {
					if at != time.Duration(i+1)*second {
						t.Errorf("%d was let through after %v", i, at)
					}
				}
			})
		})
	}
}

// TestCancelledWaitGivesBackToAll: who waits for one of several limits takes from the others
// too, and gives back to all.
func TestCancelledWaitGivesBackToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := sluice.NewKeyed(sluice.PerSecond(1), sluice.WithLimits(sluice.PerHour(3)))
		users.Allow(t.Context(), "ann")
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			line := newLine()
			line.wait("a", func() error { return users.Wait(ctx, "ann") })
			cancel()
			synctest.Wait()
			if !errors.Is(line.err("a"), context.Canceled) {
				t.Fatalf("got %v", line.err("a"))
			}
		}
		for range 2 {
			time.Sleep(second)
			if d, err := users.Allow(t.Context(), "ann"); !d.Allowed || err != nil {
				t.Errorf("got %+v, %v: those who did not wait to the end have spent", d, err)
			}
		}
	})
}
