package sqllimit_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// distant is a store that is a millisecond away, can be silent, and can fail.
type distant struct {
	store.Store
	silent, down atomic.Bool
}

var errDown = errors.New("down")

func (d *distant) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if d.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if d.down.Load() {
		return errDown
	}
	time.Sleep(time.Millisecond)
	return d.Store.Take(ctx, op, checks)
}

// overStore are a limit in flight and a rate of the kinds that a store can have.
func overStore(s store.Store, n int64) map[string]sqllimit.Option {
	limit := sluice.Limit{Count: n, Period: time.Second}
	window := limit
	window.Algorithm = sluice.FixedWindow
	return map[string]sqllimit.Option{
		"in flight": sqllimit.WithKeyedConcurrency(sluice.NewKeyedConcurrency(n, s, 3*time.Second), "db"),
		"bucket":    sqllimit.WithKeyed(sluice.NewKeyed(limit, sluice.WithStore(s)), "db"),
		"window":    sqllimit.WithKeyed(sluice.NewKeyed(window, sluice.WithStore(s)), "db"),
	}
}

// eachOverStore runs the test in a bubble with each of them.
func eachOverStore(t *testing.T, n int64, test func(*testing.T, *distant, sqllimit.Option)) {
	for _, kind := range []string{"in flight", "bucket", "window"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &distant{Store: memstore.New()}
				test(t, s, overStore(s, n)[kind])
			})
		})
	}
}

// TestStoreIsAskedSideBySide: a limit that is not reached does not make statements
// wait for each other, and a crowd that had to wait is soon through.
func TestStoreIsAskedSideBySide(t *testing.T) {
	eachOverStore(t, 200, func(t *testing.T, _ *distant, limit sqllimit.Option) {
		s := &seen{}
		db, _ := guardedDB(t, &fake{hook: s.hook(0)}, 1000, limit)
		crowd := func(n int) time.Duration {
			start := time.Now()
			var all sync.WaitGroup
			for range n {
				all.Go(func() { must[sql.Result](t)(db.Exec("SELECT")) })
			}
			all.Wait()
			return time.Since(start)
		}
		if took := crowd(100); took > 2*time.Millisecond {
			t.Errorf("100 statements took %v, a journey each", took)
		}
		if took := crowd(500); took > 2100*time.Millisecond {
			t.Errorf("500 more at 200/s took %v", took)
		}
	})
}

// TestSilentStore: a statement ends in time, and is told the truth: nobody limited it.
func TestSilentStore(t *testing.T) {
	for _, maxWait := range []time.Duration{0, time.Second} {
		eachOverStore(t, 1, func(t *testing.T, s *distant, limit sqllimit.Option) {
			db, _ := guardedDB(t, &fake{}, 1, limit, sqllimit.WithMaxWait(maxWait))
			s.silent.Store(true)
			for _, patient := range []bool{true, false} {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				if patient {
					ctx = context.Background()
				}
				start := time.Now()
				_, err := db.ExecContext(ctx, "SELECT")
				if took := time.Since(start); took > time.Second || errors.Is(err, sluice.ErrLimited) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v after %v", err, took)
				}
				cancel()
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			if _, err := db.ExecContext(ctx, "SELECT"); err != context.Canceled {
				t.Errorf("who went away got %v", err)
			}
			s.silent.Store(false)
			s.down.Store(true)
			if _, err := db.Exec("SELECT"); !errors.Is(err, errDown) || errors.Is(err, sluice.ErrLimited) {
				t.Errorf("error %v", err)
			}
			s.down.Store(false)
			time.Sleep(5 * time.Second)
			must[sql.Result](t)(db.Exec("SELECT"))
		})
	}
}

// TestSilentAfterDenial: who was denied, and whose wait then ends, was limited.
func TestSilentAfterDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &distant{Store: memstore.New()}
		db, _ := guardedDB(t, &fake{}, 9, overStore(s, 1)["in flight"], sqllimit.WithMaxWait(time.Second))
		tx := must[*sql.Tx](t)(db.Begin())
		time.AfterFunc(100*time.Millisecond, func() { s.silent.Store(true) })
		_, err := db.Exec("SELECT")
		wantLimited(t, err, true)
		s.silent.Store(false)
		_ = tx.Rollback()
		time.Sleep(5 * time.Second) // questions that are still under way
	})
}

// TestGivingBackDoesNotHoldUp: a statement that is done returns, and the store hears of
// it when it can.
func TestGivingBackDoesNotHoldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &distant{Store: memstore.New()}
		c := sluice.NewKeyedConcurrency(1, s, time.Hour)
		f := &fake{hook: func(_ context.Context, op, _ string) error {
			s.silent.Store(op == "exec context")
			return nil
		}}
		conn := connect(t, sqllimit.Wrap(f, sqllimit.WithKeyedConcurrency(c, "db"), sqllimit.WithMaxWait(0)))
		start := time.Now()
		_, err := conn.ExecContext(t.Context(), "INSERT", nil)
		if took := time.Since(start); err != nil || took > 60*time.Millisecond {
			t.Errorf("error %v after %v", err, took)
		}
		time.Sleep(2 * time.Second)
	})
}

// TestLostPermit: a transaction whose permit the store gave to others takes another
// before its next statement, or fails; it can always be ended.
func TestLostPermit(t *testing.T) {
	for _, taken := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &distant{Store: memstore.New()}
			c := sluice.NewKeyedConcurrency(1, s, 3*time.Second)
			f := &fake{}
			db, _ := guardedDB(t, f, 1, sqllimit.WithKeyedConcurrency(c, "db"), sqllimit.WithMaxWait(time.Second))
			tx := must[*sql.Tx](t)(db.Begin())
			must[sql.Result](t)(tx.Exec("INSERT"))
			s.down.Store(true)
			time.Sleep(10 * time.Second)
			s.down.Store(false)
			if taken {
				other, ok, err := c.Allow(t.Context(), "db")
				if !ok || err != nil {
					t.Fatal(ok, err)
				}
				defer other.Release(context.Background())
			}
			_, err := tx.Exec("INSERT")
			_, err2 := tx.Prepare("INSERT")
			if taken {
				wantLimited(t, err, true)
				wantLimited(t, err2, true)
			} else if err := errors.Join(err, err2); err != nil {
				t.Error(err)
			}
			if n, err := c.InFlight(t.Context(), "db"); n != 1 || err != nil {
				t.Errorf("%d in flight, %v", n, err)
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			if n, _ := c.InFlight(t.Context(), "db"); (n == 1) != taken {
				t.Errorf("%d in flight at the end", n)
			}
		})
	}
}
