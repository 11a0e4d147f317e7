package sqllimit_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestInFlight: with any mix of statements the database is never busier than the
// limit says, and is as busy as it may be.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{hook: takes(10 * time.Millisecond)}
		db, _ := guardedDB(t, f, 5, sqllimit.WithMaxWait(time.Hour))
		stmt := must[*sql.Stmt](t)(db.Prepare("SELECT 1"))
		var all sync.WaitGroup
		for i := range 120 {
			all.Go(func() { must[struct{}](t)(struct{}{}, oneOf(db, stmt, i)) })
		}
		all.Wait()
		if err := stmt.Close(); err != nil {
			t.Error(err)
		}
		if f.peak != 5 || f.busy != 0 {
			t.Errorf("peak of %d, want 5; busy at the end: %d", f.peak, f.busy)
		}
	})
}

// oneOf does one of the things that one can do with a database.
func oneOf(db *sql.DB, stmt *sql.Stmt, i int) error {
	var n int
	switch i % 4 {
	case 0:
		_, err := db.Exec("INSERT")
		return err
	case 1:
		return db.QueryRow("SELECT").Scan(&n)
	case 2:
		return stmt.QueryRow().Scan(&n)
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	_, err1 := tx.Exec("INSERT")
	err2 := tx.QueryRow("SELECT").Scan(&n)
	return errors.Join(err1, err2, tx.Commit())
}

// TestHeldUntil: how long a permit is held.
func TestHeldUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		db, c := guardedDB(t, f, 9)
		rows := must[*sql.Rows](t)(db.Query("SELECT"))
		wantInFlight(t, c, 1)
		for rows.Next() {
			wantInFlight(t, c, 1)
		}
		wantInFlight(t, c, 1) // there is another result set
		if !rows.NextResultSet() || !rows.Next() || rows.Next() {
			t.Error("no second result set")
		}
		wantInFlight(t, c, 0) // read to the end

		rows = must[*sql.Rows](t)(db.Query("SELECT"))
		wantInFlight(t, c, 1)
		rows.Close()
		wantInFlight(t, c, 0)

		tx := must[*sql.Tx](t)(db.Begin())
		wantInFlight(t, c, 1)
		inside := must[*sql.Rows](t)(tx.Query("SELECT"))
		wantInFlight(t, c, 1)
		inside.Close()
		wantInFlight(t, c, 1)
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		wantInFlight(t, c, 0)
	})
}

// TestTransactionsDoNotDeadlock: all permits are held by transactions, and each of
// them goes on.
func TestTransactionsDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, c := guardedDB(t, &fake{}, 2, sqllimit.WithMaxWait(0))
		a, b := must[*sql.Tx](t)(db.Begin()), must[*sql.Tx](t)(db.Begin())
		for _, tx := range []*sql.Tx{a, b, a, b} {
			must[sql.Result](t)(tx.Exec("INSERT"))
			must[*sql.Stmt](t)(tx.Prepare("INSERT"))
		}
		_, err := db.Exec("INSERT")
		wantLimited(t, err, true)
		_, err = db.Begin()
		wantLimited(t, err, true)
		_, err = db.Prepare("INSERT")
		wantLimited(t, err, true)
		if err := errors.Join(a.Commit(), b.Commit()); err != nil {
			t.Error(err)
		}
		wantInFlight(t, c, 0)
	})
}

// TestControlIsFree: who begins a transaction by hand can always end it.
func TestControlIsFree(t *testing.T) {
	db, _ := guardedDB(t, &fake{}, 1, sqllimit.WithMaxWait(0), sqllimit.WithLimit(sluice.PerHour(2)))
	must[sql.Result](t)(db.Exec("INSERT"))
	rows := must[*sql.Rows](t)(db.Query("COMMIT"))
	defer rows.Close()
	for _, q := range []string{"BEGIN", "ROLLBACK", ";", ""} {
		must[sql.Result](t)(db.Exec(q))
	}
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
}

// TestClosedConnection: a connection that is closed with rows, a transaction and a
// statement open gives back everything, once.
func TestClosedConnection(t *testing.T) {
	c := sluice.NewConcurrency(3)
	connector := sqllimit.Wrap(&fake{}, sqllimit.WithConcurrency(c))
	ctx := context.Background()
	conn := must[driver.Conn](t)(connector.Connect(ctx))
	rows := must[driver.Rows](t)(conn.(driver.QueryerContext).QueryContext(ctx, "SELECT", nil))
	tx := must[driver.Tx](t)(conn.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{}))
	wantInFlight(t, c, 2)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	wantInFlight(t, c, 0)
	held, _ := c.Allow()
	_, _ = rows.Close(), tx.Rollback()
	wantInFlight(t, c, 1)
	held.Release()
}

// TestPanickingDriver: a driver that panics keeps no permit.
func TestPanickingDriver(t *testing.T) {
	for _, op := range []string{"exec context", "query context", "prepare context", "begin tx", "stmt exec context", "stmt query context", "commit", "close rows"} {
		t.Run(op, func(t *testing.T) {
			f := &fake{hook: func(_ context.Context, got, _ string) error {
				if got == op {
					panic(op)
				}
				return nil
			}}
			c := sluice.NewConcurrency(1)
			ctx := context.Background()
			conn := must[driver.Conn](t)(sqllimit.Wrap(f, sqllimit.WithConcurrency(c)).Connect(ctx))
			func() {
				defer func() {
					if recover() != op {
						t.Error("the panic was swallowed")
					}
				}()
				driveAll(ctx, conn)
			}()
			wantInFlight(t, c, 0)
		})
	}
}

func driveAll(ctx context.Context, conn driver.Conn) {
	_, _ = conn.(driver.ExecerContext).ExecContext(ctx, "INSERT", nil)
	if rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "SELECT", nil); err == nil {
		_ = rows.Close()
	}
	stmt, _ := conn.(driver.ConnPrepareContext).PrepareContext(ctx, "SELECT")
	_, _ = stmt.(driver.StmtExecContext).ExecContext(ctx, nil)
	if rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil); err == nil {
		_ = rows.Close()
	}
	if tx, err := conn.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{}); err == nil {
		_ = tx.Commit()
	}
}

// TestOverStore: processes that share a store share the limits.
func TestOverStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memstore.New()
		flights := sluice.NewKeyedConcurrency(3, s, 30*time.Second)
		rate := sluice.NewKeyed(sluice.PerSecond(100).WithBurst(10), sluice.WithStore(s))
		f := &fake{hook: takes(10 * time.Millisecond)}
		var all sync.WaitGroup
		for range 2 { // services
			db := sql.OpenDB(sqllimit.Wrap(f, sqllimit.WithKeyedConcurrency(flights, "orders"), sqllimit.WithKeyed(rate, "orders")))
			defer db.Close()
			for range 20 {
				all.Go(func() { must[sql.Result](t)(db.Exec("INSERT")) })
			}
		}
		start := time.Now()
		all.Wait()
		if took := time.Since(start); f.peak != 3 || took < 700*time.Millisecond || took > time.Second {
			t.Errorf("peak of %d, want 3; took %v, want (2·40−10)/100 s", f.peak, took)
		}
		if n, err := flights.InFlight(t.Context(), "orders"); n != 0 || err != nil {
			t.Errorf("%d in flight, error %v", n, err)
		}
		db := sql.OpenDB(sqllimit.Wrap(f, sqllimit.WithKeyedConcurrency(flights, "orders"), sqllimit.WithMaxWait(0)))
		defer db.Close()
		for range 3 {
			defer must[*sql.Tx](t)(db.Begin()).Rollback()
		}
		_, err := db.Exec("INSERT")
		wantLimited(t, err, true)
	})
}

// TestDriver: a driver that is registered behaves as the bare one.
func TestDriver(t *testing.T) {
	f := &fake{}
	older, newer := "old"+rand.Text(), "new"+rand.Text() // the test may run twice
	sql.Register(older, sqllimit.WrapDriver(oldDriver{f}, sqllimit.WithInFlight(1), sqllimit.WithMaxWait(0)))
	sql.Register(newer, sqllimit.WrapDriver(newDriver{oldDriver{f}}, sqllimit.WithInFlight(1)))
	db := must[*sql.DB](t)(sql.Open(older, "name"))
	other := must[*sql.DB](t)(sql.Open(older, "other"))
	tx := must[*sql.Tx](t)(db.Begin())
	_, err := other.Exec("INSERT") // one limit for all that the driver opens
	wantLimited(t, err, true)
	if err := errors.Join(tx.Commit(), db.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if got := strings.Join(f.log[:2], ", "); got != "open name, connect " {
		t.Error(got)
	}
	if _, ok := db.Driver().(oldDriver); !ok {
		t.Errorf("driver %T", db.Driver())
	}
	if _, err := sql.Open(newer, "bad"); err == nil {
		t.Error("a bad name is taken")
	}
	db = must[*sql.DB](t)(sql.Open(newer, "good"))
	if err := db.Close(); err == nil || err.Error() != "connector is closed" {
		t.Errorf("close: %v", err)
	}
	if c, err := sqllimit.WrapDriver(oldDriver{f}, sqllimit.WithInFlight(1)).Open("x"); err != nil || c.Close() != nil {
		t.Error(err)
	}
}
