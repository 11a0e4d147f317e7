// Command database shows the guard in front of a database: forty requests at once,
// of which it lets through three at a time. The database is a small imitation, so
// that nothing else is needed.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

func main() {
	bare := &slowDatabase{}
	flood(bare, sql.OpenDB(bare), "without a guard")

	guarded := &slowDatabase{}
	flood(guarded, sql.OpenDB(sqllimit.Wrap(guarded,
		sqllimit.WithInFlight(3),
		sqllimit.WithLimit(sluice.PerSecond(200).WithBurst(20)), // a write costs 2
		sqllimit.WithMaxWait(150*time.Millisecond),
	)), "with a guard")

	transaction()
}

// flood sends forty writes at once and tells what the database saw.
func flood(seen *slowDatabase, db *sql.DB, title string) {
	defer db.Close()
	var done, limited atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range 40 {
		all.Go(func() {
			_, err := db.ExecContext(context.Background(), "UPDATE stock SET n = n - 1")
			switch {
			case err == nil:
				done.Add(1)
			case errors.Is(err, sluice.ErrLimited):
				limited.Add(1)
			default:
				log.Print(err)
			}
		})
	}
	all.Wait()
	fmt.Printf("%-16s %2d done, %2d refused, at most %2d at the same time, %v\n",
		title+":", done.Load(), limited.Load(), seen.peak.Load(), time.Since(start).Round(10*time.Millisecond))
}

// transaction shows that a transaction holds one permit, and needs no other.
func transaction() {
	inFlight := sluice.NewConcurrency(1)
	db := sql.OpenDB(sqllimit.Wrap(&slowDatabase{}, sqllimit.WithConcurrency(inFlight), sqllimit.WithMaxWait(0)))
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		log.Fatal(err)
	}
	_, inside := tx.Exec("INSERT INTO orders VALUES (1)")
	_, beside := db.Exec("INSERT INTO orders VALUES (2)")
	fmt.Printf("in a transaction: %v; beside it: %v\n", inside, beside)
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("in flight at the end:", inFlight.InFlight())
}
