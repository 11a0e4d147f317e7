package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

// TestRate: reads cost 1 and writes 2, also inside a transaction; the rest is free.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rate := sluice.NewLimiter(sluice.PerHour(100))
		const report sqllimit.Class = 9
		classify := func(q string) sqllimit.Class {
			if q == "REPORT" {
				return report
			}
			return sqllimit.Classify(q)
		}
		db, _ := guardedDB(t, &fake{}, 1, sqllimit.WithLimiter(rate), sqllimit.WithClassifier(classify), sqllimit.WithCost(report, 30))
		spent := func(want float64) {
			t.Helper()
			if got := 100 - rate.Tokens(); got != want {
				t.Errorf("spent %v, want %v", got, want)
			}
		}
		must[sql.Result](t)(db.Exec("INSERT"))
		spent(2)
		must[sql.Result](t)(db.Exec("SELECT"))
		spent(3)
		stmt := must[*sql.Stmt](t)(db.Prepare("UPDATE"))
		spent(3)
		must[sql.Result](t)(stmt.Exec())
		spent(5)
		tx := must[*sql.Tx](t)(db.Begin())
		spent(5)
		must[sql.Result](t)(tx.Exec("DELETE"))
		spent(7)
		must[struct{}](t)(struct{}{}, tx.Commit())
		must[sql.Result](t)(db.Exec("REPORT"))
		spent(37)
		stmt.Close()
	})
}

// TestWaitingOrder: who came first goes first.
func TestWaitingOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		f := &fake{hook: func(ctx context.Context, op, q string) error {
			if op == "exec context" {
				mu.Lock()
				order = append(order, q)
				mu.Unlock()
			}
			return takes(time.Second)(ctx, op, q)
		}}
		db, _ := guardedDB(t, f, 1, sqllimit.WithLimit(sluice.PerSecond(2)))
		var all sync.WaitGroup
		for _, q := range []string{"a", "b", "c", "d", "e"} {
			all.Go(func() { must[sql.Result](t)(db.Exec(q)) })
			synctest.Wait()
		}
		all.Wait()
		if !slices.Equal(order, []string{"a", "b", "c", "d", "e"}) {
			t.Error(order)
		}
	})
}

// TestPatience: what a statement gets that cannot run in time, and when.
func TestPatience(t *testing.T) {
	full := func(*testing.T, *sql.DB, context.CancelFunc) {}
	tests := map[string]struct {
		maxWait   time.Duration
		deadline  time.Duration
		meanwhile func(*testing.T, *sql.DB, context.CancelFunc)
		inFlight  bool // what is full; else the rate
		after     time.Duration
		is        error
	}{
		"fails fast in flight":      {0, time.Hour, full, true, 0, sluice.ErrLimited},
		"fails fast at the rate":    {0, time.Hour, full, false, 0, sluice.ErrLimited},
		"waits for MaxWait":         {time.Second, time.Hour, full, true, time.Second, sluice.ErrLimited},
		"knows that MaxWait passes": {time.Second, time.Hour, full, false, 0, sluice.ErrLimited},
		"waits until the deadline":  {time.Hour, time.Second, full, true, time.Second, context.DeadlineExceeded},
		"knows the deadline":        {time.Hour, time.Second, full, false, 0, sluice.ErrLimited},
		"cancelled in flight":       {time.Hour, time.Hour, cancelled, true, time.Minute, context.Canceled},
		"cancelled at the rate":     {5 * time.Hour, 5 * time.Hour, cancelled, false, time.Minute, context.Canceled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rate := sluice.NewLimiter(sluice.PerHour(2))
				db, c := guardedDB(t, &fake{}, 1, sqllimit.WithLimiter(rate), sqllimit.WithMaxWait(test.maxWait))
				if test.inFlight {
					defer must[*sql.Tx](t)(db.Begin()).Rollback()
				} else {
					must[sql.Result](t)(db.Exec("INSERT"))
				}
				before, held := rate.Tokens(), c.InFlight()
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				test.meanwhile(t, db, cancel)
				start := time.Now()
				_, err := db.ExecContext(ctx, "INSERT")
				if took := time.Since(start); !errors.Is(err, test.is) || errors.Is(err, driver.ErrBadConn) || took != test.after {
					t.Errorf("error %v after %v, want %v after %v", err, took, test.is, test.after)
				}
				if test.is == context.Canceled && errors.Is(err, sluice.ErrLimited) {
					t.Error("who went away was not limited")
				}
				if test.is != context.Canceled {
					if got := wantLimited(t, err, test.inFlight); got.Waited != test.after {
						t.Errorf("waited %v", got.Waited)
					}
				}
				if got := rate.Tokens(); got != before {
					t.Errorf("%v tokens, want %v", got, before)
				}
				wantInFlight(t, c, held)
			})
		})
	}
}

func cancelled(_ *testing.T, _ *sql.DB, cancel context.CancelFunc) {
	time.AfterFunc(time.Minute, cancel)
}

// TestSecondLimitRefuses: what the first limits gave goes back to them.
func TestSecondLimitRefuses(t *testing.T) {
	first, second := sluice.NewLimiter(sluice.PerHour(10)), sluice.NewLimiter(sluice.PerHour(2))
	a := sluice.NewConcurrency(5)
	db, _ := guardedDB(t, &fake{}, 1, sqllimit.WithConcurrency(a), sqllimit.WithLimiter(first), sqllimit.WithLimiter(second), sqllimit.WithMaxWait(0))
	must[sql.Result](t)(db.Exec("INSERT"))
	_, err := db.Exec("INSERT")
	var decided *sluice.LimitedError
	if wantLimited(t, err, false); !errors.As(err, &decided) || decided.Decision.RetryAfter() == 0 {
		t.Errorf("error %v does not tell when to come back", err)
	}
	if got := first.Tokens(); got != 8 {
		t.Errorf("%v tokens at the first rate, want 8", got)
	}
	tx := must[*sql.Tx](t)(db.Begin())
	defer tx.Rollback()
	_, err = db.Begin()
	wantLimited(t, err, true)
	wantInFlight(t, a, 1)
}

// TestNotRunIsNotPaid: what the driver skips is paid once, and what a bad
// connection did not run is not paid.
func TestNotRunIsNotPaid(t *testing.T) {
	rate := sluice.NewLimiter(sluice.PerHour(100))
	bad := 0
	f := &fake{hook: func(_ context.Context, op, q string) error {
		switch {
		case q == "INSERT skip" && op == "exec context", q == "SELECT skip" && op == "query context":
			return driver.ErrSkip
		case q == "INSERT bad" && op == "exec context" && bad < 2:
			bad++
			return driver.ErrBadConn
		}
		return nil
	}}
	db, c := guardedDB(t, f, 1, sqllimit.WithLimiter(rate), sqllimit.WithMaxWait(0))
	spent := 0.0
	for _, step := range []struct {
		query string
		args  []any
		cost  float64
		fails bool
	}{
		{"INSERT skip", nil, 2, false},
		{"INSERT skip", []any{struct{}{}}, 0, true}, // no driver takes this argument
		{"INSERT bad", nil, 2, false},
	} {
		_, err := db.Exec(step.query, step.args...)
		spent += step.cost
		if got := 100 - rate.Tokens(); (err != nil) != step.fails || got != spent {
			t.Errorf("%v: spent %v, want %v; error %v", step.query, got, spent, err)
		}
		wantInFlight(t, c, 0)
	}
	rows := must[*sql.Rows](t)(db.Query("SELECT skip"))
	if wantInFlight(t, c, 1); 100-rate.Tokens() != spent+1 {
		t.Errorf("%v tokens", rate.Tokens())
	}
	rows.Close()
	if bad != 2 {
		t.Errorf("%d bad connections, want 2", bad)
	}
}
