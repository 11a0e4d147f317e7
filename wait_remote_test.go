package sluice_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// distant is a store that is some time away, and can be silent.
type distant struct {
	store.Store
	away   time.Duration
	silent atomic.Bool
}

func (d *distant) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	away := d.away
	if d.silent.Load() {
		away = time.Hour
	}
	select {
	case <-time.After(away):
		return d.Store.Take(ctx, op, checks)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waits are the two kinds of limits on a store that take no bookings: n at once, and
// all of it again after a second.
func waits(s store.Store, n int64) map[string]func(context.Context) error {
	window := sluice.NewKeyed(sluice.Limit{Algorithm: sluice.FixedWindow, Count: n, Period: time.Second}, sluice.WithStore(s))
	permits := sluice.NewKeyedConcurrency(n, s, time.Minute)
	return map[string]func(context.Context) error{
		"window": func(ctx context.Context) error { return window.Wait(ctx, "k") },
		"permits": func(ctx context.Context) error {
			p, err := permits.Wait(ctx, "k")
			if err == nil {
				time.AfterFunc(time.Second-3*ms, func() {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					_ = p.Release(ctx)
				})
			}
			return err
		},
	}
}

// TestNobodyQueuesWhileThereIsEnough: a hundred at once take one journey to the store,
// not a hundred; and when there is enough again those who had to wait are soon through.
func TestNobodyQueuesWhileThereIsEnough(t *testing.T) {
	for kind, again := range map[string]time.Duration{
		"window":  second + 20*ms,
		"permits": second + 120*ms, // the first asks every 100 ms at least
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wait := waits(&distant{Store: memstore.New(), away: ms}, 100)[kind]
				begin := time.Now()
				crowd := func(want time.Duration) {
					t.Helper()
					var all sync.WaitGroup
					for range 100 {
						all.Go(func() {
							if err := wait(t.Context()); err != nil {
								t.Error(err)
							}
						})
					}
					all.Wait()
					if got := time.Since(begin); got > want {
						t.Errorf("through after %v, want %v", got, want)
					}
				}
				crowd(ms)
				crowd(again)
				time.Sleep(2 * second)
			})
		})
	}
}

// TestWhoWaitsIsNotOvertaken: also on a remote store, by those who come later.
func TestWhoWaitsIsNotOvertaken(t *testing.T) {
	for _, kind := range []string{"window", "permits"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wait := waits(&distant{Store: memstore.New(), away: ms}, 1)[kind]
				line := newLine()
				for _, name := range strings.Split("abcdefgh", "") {
					line.wait(name, func() error { return wait(t.Context()) })
					time.Sleep(300 * ms)
				}
				time.Sleep(20 * second)
				if got := line.order(); got != "abcdefgh" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// TestWaitTellsItsEndFromAStoreThatIsSilent: who was denied and whose time is over gets
// the context's own error; who never got an answer, that of the store.
func TestWaitTellsItsEndFromAStoreThatIsSilent(t *testing.T) {
	for _, kind := range []string{"window", "permits"} {
		for _, denied := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &distant{Store: memstore.New(), away: ms}
				wait := waits(s, 1)[kind]
				if err := wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.silent.Store(!denied)
				ctx, cancel := context.WithTimeout(t.Context(), 1500*ms)
				defer cancel()
				go func() {
					time.Sleep(100 * ms)
					s.silent.Store(true)
				}()
				err := wait(ctx)
				if own := err == context.DeadlineExceeded; own != denied || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, denied %v: error %v", kind, denied, err)
				}
				s.silent.Store(false)
				time.Sleep(5 * second)
			})
		}
	}
}
