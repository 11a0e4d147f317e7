package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

const goroutines = 200

// TestGuard runs all on one server.
func TestGuard(t *testing.T) {
	s := start(t)
	t.Run("in flight", func(t *testing.T) { testInFlight(t, s) })
	t.Run("rate", func(t *testing.T) { testRate(t, s) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, s) })
	t.Run("fleet", func(t *testing.T) { testFleet(t, s) })
}

// testInFlight: 200 goroutines on two databases that share one limit. The server
// never sees more of them active than the limit says, and sees that many.
func testInFlight(t *testing.T, s *server) {
	const limit = 8
	inFlight := sluice.NewConcurrency(limit)
	dbs := make([]*sql.DB, 2)
	for i := range dbs {
		dbs[i] = open(t, sqllimit.Wrap(s.connector(t, "guarded"), sqllimit.WithConcurrency(inFlight), sqllimit.WithMaxWait(time.Minute)))
		dbs[i].SetMaxOpenConns(40)
		dbs[i].SetMaxIdleConns(40)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	watched := s.watch(t, ctx)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := work(dbs[i%2], rand.IntN(4)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	seen := <-watched
	t.Logf("%d samples: at most %d active or in a transaction", seen.samples, seen.peak)
	if seen.samples < 20 || seen.peak > limit || seen.peak < limit-2 {
		t.Errorf("%d samples, at most %d at the same time: want up to %d", seen.samples, seen.peak, limit)
	}
	wantNothing(t, inFlight, dbs...)
}

// work does one of the things that one can do with a database.
func work(db *sql.DB, what int) error {
	var n int
	switch what {
	case 0:
		_, err := db.Exec("SELECT pg_sleep(0.005)")
		return err
	case 1:
		return db.QueryRow("SELECT $1::int FROM pg_sleep(0.005)", 7).Scan(&n)
	case 2:
		stmt, err := db.Prepare("SELECT $1::int FROM pg_sleep(0.005)")
		if err != nil {
			return err
		}
		return errors.Join(stmt.QueryRow(7).Scan(&n), stmt.Close())
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	_, err1 := tx.Exec("SELECT pg_sleep(0.005)")
	err2 := tx.QueryRow("SELECT 7").Scan(&n)
	return errors.Join(err1, err2, tx.Commit())
}

type sight struct{ samples, peak int }

// watch asks the server, past the guard, what the guarded sessions do. The server looks
// at one session after the other, so only those count that were busy when it began to
// look, and still are: else a session that ends could count beside its successor.
func (s *server) watch(t *testing.T, ctx context.Context) <-chan sight {
	db := open(t, s.connector(t, "watch"))
	result := make(chan sight, 1)
	go func() {
		var all sight
		for ctx.Err() == nil {
			var n int
			err := db.QueryRow(`SELECT count(*) FROM pg_stat_activity
				WHERE application_name = 'guarded' AND state IN ('active', 'idle in transaction')
				AND xact_start <= statement_timestamp()`).Scan(&n)
			if err != nil {
				t.Error(err)
			}
			all.samples++
			all.peak = max(all.peak, n)
			time.Sleep(5 * time.Millisecond)
		}
		result <- all
	}()
	return result
}

// testRate: the server counts no more statements than the limit admits, at any time,
// and not much less.
func testRate(t *testing.T, s *server) {
	direct := open(t, s.connector(t, "direct"))
	if _, err := direct.Exec("CREATE SEQUENCE counter CACHE 1"); err != nil {
		t.Fatal(err)
	}
	const perSecond, burst = 400, 20
	db := open(t, sqllimit.Wrap(s.connector(t, "guarded"), sqllimit.WithLimit(sluice.PerSecond(perSecond).WithBurst(burst)), sqllimit.WithMaxWait(time.Minute)))
	db.SetMaxOpenConns(80)
	db.SetMaxIdleConns(80)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begin := time.Now()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for ctx.Err() == nil {
				var n int
				err := db.QueryRowContext(ctx, "SELECT nextval('counter')").Scan(&n)
				if err != nil && ctx.Err() == nil && !errors.Is(err, sluice.ErrLimited) {
					t.Error(err)
				}
			}
		})
	}
	var counted int64
	for ctx.Err() == nil {
		if err := direct.QueryRow("SELECT last_value FROM counter").Scan(&counted); err != nil {
			t.Error(err)
		}
		elapsed := time.Since(begin) // after the answer, so that it is no less than the server's
		if allowed := burst + int64(elapsed.Seconds()*perSecond) + 1; counted > allowed {
			t.Errorf("after %v the server counts %d, allowed are %d", elapsed, counted, allowed)
		}
		time.Sleep(5 * time.Millisecond)
	}
	all.Wait()
	t.Logf("the server counted %d in 3 s at %d/s", counted, perSecond)
	if counted < 2*perSecond {
		t.Errorf("the server counted %d in 3 s: the guard lets too little through", counted)
	}
}

// testCancelled: queries that are cancelled, while they wait or while they run, leave
// neither permits nor connections behind; TestMain looks for goroutines.
func testCancelled(t *testing.T, s *server) {
	inFlight := sluice.NewConcurrency(8)
	db := open(t, sqllimit.Wrap(s.connector(t, "guarded"), sqllimit.WithConcurrency(inFlight), sqllimit.WithLimit(sluice.PerSecond(500))))
	db.SetMaxOpenConns(40)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	var mu sync.Mutex
	ends := map[string]int{}
	for i := range uint64(goroutines) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, i))
			for range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(300))*time.Millisecond)
				end := cancelled(ctx, db, r.IntN(3))
				cancel()
				mu.Lock()
				ends[end]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("how they ended: %v", ends)
	if ends["limited"] == 0 || ends["ended"] == 0 || ends["done"] == 0 {
		t.Error("want some of each")
	}
	wantNothing(t, inFlight, db)
	for range 16 { // all permits are there: twice as many statements as permits run
		if err := work(db, 3); err != nil {
			t.Error(err)
		}
	}
}

// cancelled starts something that takes longer than many a context, and tells how it ended.
func cancelled(ctx context.Context, db *sql.DB, what int) string {
	var err error
	switch what {
	case 0:
		_, err = db.ExecContext(ctx, "SELECT pg_sleep(0.02)")
	case 1:
		var n int
		err = db.QueryRowContext(ctx, "SELECT 1 FROM pg_sleep($1)", 0.02).Scan(&n)
	case 2:
		var tx *sql.Tx
		if tx, err = db.BeginTx(ctx, nil); err == nil {
			_, err = tx.ExecContext(ctx, "SELECT pg_sleep(0.02)")
			_ = tx.Rollback()
		}
	}
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, sluice.ErrLimited):
		return "limited"
	case ctx.Err() != nil:
		return "ended"
	}
	return fmt.Sprint(err)
}

// wantNothing checks that permits and connections came back. A rollback after a
// cancelled context happens in the background.
func wantNothing(t *testing.T, c *sluice.Concurrency, dbs ...*sql.DB) {
	t.Helper()
	used := func() (n int) {
		for _, db := range dbs {
			n += db.Stats().InUse
		}
		return n
	}
	for range 1000 {
		if c.InFlight() == 0 && used() == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("left behind: %d permits, %d connections", c.InFlight(), used())
}
