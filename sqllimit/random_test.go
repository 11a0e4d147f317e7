package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

// TestRandom: after any mix of operations, contexts that end and drivers that fail,
// nothing is in flight, and never was there more than allowed. It runs in real time,
// since database/sql works under locks that a bubble cannot see through.
func TestRandom(t *testing.T) {
	for range 5 {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		f := &fake{hook: trouble(seed)}
		db, c := guardedDB(t, f, 4, sqllimit.WithLimit(sluice.PerSecond(20_000)), sqllimit.WithMaxWait(2*time.Millisecond))
		db.SetMaxOpenConns(12)
		var all sync.WaitGroup
		for i := range uint64(30) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(seed, i))
				for range 20 {
					randomly(r, db)
				}
			})
		}
		all.Wait()
		// database/sql rolls back in the background what its context ended.
		for range 5000 {
			if c.InFlight() == 0 && db.Stats().InUse == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		wantInFlight(t, c, 0)
		if n := db.Stats().InUse; n != 0 {
			t.Errorf("%d connections are lost", n)
		}
		f.mu.Lock()
		if f.busy != 0 || f.peak > 4 {
			t.Errorf("busy %d, want 0; peak %d, want at most 4", f.busy, f.peak)
		}
		f.mu.Unlock()
	}
}

// trouble is a database that is slow and fails in all ways that a driver may.
func trouble(seed uint64) func(context.Context, string, string) error {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1<<32))
	return func(ctx context.Context, op, _ string) error {
		mu.Lock()
		draw, work := r.IntN(20), time.Duration(r.IntN(500))*time.Microsecond
		mu.Unlock()
		if op == "close" || op == "close stmt" || op == "close rows" || op == "connect" {
			return nil
		}
		select {
		case <-time.After(work):
		case <-ctx.Done():
			return ctx.Err()
		}
		switch draw {
		case 0:
			return errors.New("trouble")
		case 1:
			return driver.ErrBadConn
		case 2:
			if op == "exec context" || op == "query context" {
				return driver.ErrSkip
			}
		}
		return nil
	}
}

// randomly does one thing with a context that may end meanwhile. Errors are what it is for.
func randomly(r *rand.Rand, db *sql.DB) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(4000))*time.Microsecond)
	defer cancel()
	switch r.IntN(5) {
	case 0:
		_, _ = db.ExecContext(ctx, "INSERT", r.IntN(3))
	case 1:
		if rows, err := db.QueryContext(ctx, "SELECT", r.IntN(3)); err == nil {
			for r.IntN(4) > 0 && rows.Next() {
				time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
			}
			_ = rows.Close()
		}
	case 2:
		if stmt, err := db.PrepareContext(ctx, "UPDATE"); err == nil {
			_, _ = stmt.ExecContext(ctx)
			_ = stmt.Close()
		}
	case 3:
		if tx, err := db.BeginTx(ctx, nil); err == nil {
			_, _ = tx.ExecContext(ctx, "INSERT")
			if rows, err := tx.QueryContext(ctx, "SELECT"); err == nil {
				_ = rows.Close()
			}
			if r.IntN(2) == 0 {
				_ = tx.Commit()
			}
			_ = tx.Rollback()
		}
	case 4:
		var n int
		_ = db.QueryRowContext(ctx, "SELECT").Scan(&n)
	}
}
