package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

// seen writes down when which statement reaches the database, which takes some time for it.
type seen struct {
	mu    sync.Mutex
	times []time.Time
	what  []string
}

func (s *seen) hook(takes time.Duration) func(context.Context, string, string) error {
	return func(_ context.Context, op, q string) error {
		if op == "exec context" {
			s.mu.Lock()
			s.times, s.what = append(s.times, time.Now()), append(s.what, q)
			s.mu.Unlock()
			time.Sleep(takes)
		}
		return nil
	}
}

// wantRate checks that in no span of time there were more writes than burst and rate allow.
func (s *seen) wantRate(t *testing.T, burst, perSecond float64) {
	t.Helper()
	for i := range s.times {
		for j := i; j < len(s.times); j++ {
			span := s.times[j].Sub(s.times[i])
			if cost, allowed := float64(2*(j-i+1)), burst+span.Seconds()*perSecond+1e-4; cost > allowed {
				t.Fatalf("statements %d to %d within %v cost %v, allowed are %v", i, j, span, cost, allowed)
			}
		}
	}
}

// TestNoPermitWhileWaitingForTheRate: others can use it meanwhile, and the error names
// the limit that was missing.
func TestNoPermitWhileWaitingForTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, c := guardedDB(t, &fake{}, 1, sqllimit.WithLimit(sluice.PerMinute(2)), sqllimit.WithMaxWait(40*time.Second))
		must[sql.Result](t)(db.Exec("INSERT"))
		_, err := db.Exec("INSERT") // needs a minute
		wantLimited(t, err, false)
		later := make(chan error, 1)
		go func() {
			_, err := db.Exec("SELECT")
			later <- err
		}()
		synctest.Wait()
		wantInFlight(t, c, 0)
		tx := must[*sql.Tx](t)(db.Begin()) // does not need the rate
		time.Sleep(35 * time.Second)       // now SELECT has its rate, but no permit
		if len(later) > 0 {
			t.Error("too soon")
		}
		if got := wantLimited(t, <-later, true); got.Waited != 40*time.Second {
			t.Errorf("waited %v", got.Waited)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	})
}

// TestDatabaseNeverSeesMoreThanTheRate: also after all permits were held for a long time
// and many statements wait.
func TestDatabaseNeverSeesMoreThanTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		rate := sluice.NewLimiter(sluice.PerSecond(20).WithBurst(4))
		db, _ := guardedDB(t, &fake{hook: s.hook(time.Millisecond)}, 8, sqllimit.WithLimiter(rate), sqllimit.WithMaxWait(time.Minute))
		var holders []*sql.Tx
		for range 8 {
			holders = append(holders, must[*sql.Tx](t)(db.Begin()))
		}
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				must[sql.Result](t)(db.Exec("INSERT"))
			})
		}
		time.Sleep(5 * time.Second)
		for _, tx := range holders {
			must[sql.Result](t)(tx.Exec("INSERT"))
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		}
		start := time.Now()
		all.Wait()
		if took := time.Since(start); took > 6500*time.Millisecond { // about 60·2/20 s
			t.Errorf("took %v more", took)
		}
		s.wantRate(t, 4, 20)
		if len(s.times) != 68 {
			t.Errorf("%d statements", len(s.times))
		}
	})
}

// TestBothLimitsHold: whatever is run beside each other, neither limit is exceeded, and
// all of both comes back.
func TestBothLimitsHold(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		f := &fake{hook: s.hook(20 * time.Millisecond)}
		rate := sluice.NewLimiter(sluice.PerSecond(200).WithBurst(10))
		db, _ := guardedDB(t, f, 3, sqllimit.WithLimiter(rate), sqllimit.WithMaxWait(2*time.Second))
		var all sync.WaitGroup
		for i := range uint64(40) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(seed, i))
				for range 20 {
					err := write(r, db)
					if err != nil && !errors.Is(err, sluice.ErrLimited) {
						t.Error(err)
					}
					time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
				}
			})
		}
		all.Wait()
		s.wantRate(t, 10, 200)
		if f.peak > 3 || f.busy != 0 || len(s.times) < 300 {
			t.Errorf("peak %d, want 3; busy %d, want 0; %d statements", f.peak, f.busy, len(s.times))
		}
		time.Sleep(time.Second)
		if got := rate.Tokens(); got != 10 {
			t.Errorf("%v tokens", got)
		}
	})
}

// write runs a statement, alone or in a transaction.
func write(r *rand.Rand, db *sql.DB) error {
	if r.IntN(3) > 0 {
		_, err := db.Exec("INSERT")
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT")
	return errors.Join(err, tx.Commit())
}

// TestRateIsFirstComeFirstServed: also behind one that costs more.
func TestRateIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		db, _ := guardedDB(t, &fake{hook: s.hook(0)}, 1, sqllimit.WithLimit(sluice.PerSecond(2)))
		want := []string{"INSERT 1", "INSERT 2", "SELECT 3", "SELECT 4", "INSERT 5", "SELECT 6"}
		var all sync.WaitGroup
		for _, q := range want {
			all.Go(func() { must[sql.Result](t)(db.Exec(q)) })
			time.Sleep(120 * time.Millisecond) // at last there is enough for a read, not for a write
		}
		all.Wait()
		if !slices.Equal(s.what, want) {
			t.Error(s.what)
		}
	})
}

// TestTransactionPassesWhoWaitsForIt: the first in the line for the rate waits for the
// permit of a transaction, which needs the rate itself to go on.
func TestTransactionPassesWhoWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, _ := guardedDB(t, &fake{}, 1, sqllimit.WithLimit(sluice.PerSecond(2)))
		must[sql.Result](t)(db.Exec("INSERT"))
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { must[sql.Result](t)(db.Exec("INSERT")) })
			synctest.Wait()
		}
		tx := must[*sql.Tx](t)(db.Begin())
		time.Sleep(3 * time.Second) // the first of them now waits for the permit
		start := time.Now()
		for range 2 {
			must[sql.Result](t)(tx.Exec("INSERT"))
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("two statements of a transaction took %v, want 1s", took)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
}

// TestKnowsThatItsTurnComesTooLate: nobody stands in a line to be refused at its end.
func TestKnowsThatItsTurnComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, _ := guardedDB(t, &fake{}, 50, sqllimit.WithLimit(sluice.PerSecond(10)), sqllimit.WithMaxWait(2*time.Second))
		var all sync.WaitGroup
		var mu sync.Mutex
		done, atOnce, late := 0, 0, 0
		for range 100 {
			all.Go(func() {
				start := time.Now()
				_, err := db.Exec("SELECT")
				mu.Lock()
				defer mu.Unlock()
				var decided *sluice.LimitedError
				switch took := time.Since(start); {
				case err == nil:
					done++
				case wantLimited(t, err, false).Waited == 0 && took == 0 && errors.As(err, &decided):
					atOnce++
				default:
					late++
				}
			})
		}
		all.Wait()
		if done != 30 || late > 2 {
			t.Errorf("%d done, want 10 + 2·10; %d refused at once, %d after a wait", done, atOnce, late)
		}
	})
}

// TestPanickingLimit: an observer that panics keeps neither a permit nor a place in line.
func TestPanickingLimit(t *testing.T) {
	for denials, want := range []float64{100, 99, 99} { // at once, and at the first or second denial
		synctest.Test(t, func(t *testing.T) {
			ready := sluice.NewLimiter(sluice.PerHour(100))
			bad := sluice.NewLimiter(sluice.PerSecond(1), sluice.WithObserver(&explosive{after: denials}))
			c := sluice.NewConcurrency(1)
			conn := connect(t, sqllimit.Wrap(&fake{}, sqllimit.WithConcurrency(c), sqllimit.WithLimiter(ready), sqllimit.WithLimiter(bad)))
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				for range 2 {
					must[driver.Result](t)(conn.ExecContext(t.Context(), "SELECT", nil))
				}
			}()
			wantInFlight(t, c, 0)
			if got := ready.Tokens(); got != want {
				t.Errorf("%v tokens, want %v", got, want)
			}
			must[driver.Result](t)(conn.ExecContext(t.Context(), "SELECT", nil)) // nobody is in its way
			wantInFlight(t, c, 0)
		})
	}
}
