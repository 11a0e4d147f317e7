package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func ExampleWrap() {
	var connector driver.Connector = &fake{} // from your driver, such as pq.NewConnector
	db := sql.OpenDB(sqllimit.Wrap(connector,
		sqllimit.WithInFlight(1),
		sqllimit.WithMaxWait(0), // fail at once
	))
	defer db.Close()

	tx, err := db.Begin() // holds the one permit until it ends
	if err != nil {
		log.Fatal(err)
	}
	_, err = tx.Exec("UPDATE stock SET n = n - 1")
	fmt.Println("inside:", err)
	_, err = db.Exec("UPDATE stock SET n = n + 1")
	fmt.Println("beside:", err)
	fmt.Println("limited:", errors.Is(err, sluice.ErrLimited))
	_ = tx.Commit()
	// Output:
	// inside: <nil>
	// beside: sqllimit: limited: too much in flight
	// limited: true
}

func init() {
	d := sqllimit.WrapDriver(oldDriver{&fake{}}, sqllimit.WithInFlight(32)) // pq.Driver{} or another
	sql.Register("limited", d)
}

func ExampleWrapDriver() {
	db, err := sql.Open("limited", "host=db")
	fmt.Println(err, db.Ping())
	// Output: <nil> <nil>
}

func ExampleClassify() {
	fmt.Println(sqllimit.Classify("SELECT * FROM t"))
	fmt.Println(sqllimit.Classify("SELECT * FROM t FOR UPDATE"))
	fmt.Println(sqllimit.Classify("WITH old AS (DELETE FROM t RETURNING *) SELECT * FROM old"))
	fmt.Println(sqllimit.Classify("COMMIT"))
	// Output:
	// read
	// write
	// write
	// free
}

// The functions that follow are the pieces of code of docs/DATABASE.md.

func TestDocumentedPieces(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reported := make(chan int64, 1)
	measured := docMeasure(ctx, &fake{}, func(n int64) {
		cancel()
		reported <- n
	})
	if n := <-reported; n != 0 {
		t.Errorf("%d in flight", n)
	}
	changed, err := docChange(&fake{})
	if err != nil {
		t.Error(err)
	}
	for _, db := range []*sql.DB{docStart(&fake{}), measured, changed, docFleet(&fake{}, memstore.New()), docReports(&fake{})} {
		docPool(db)
		if retry, err := docRefused(t.Context(), db); retry != 0 || err != nil {
			t.Error(retry, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func docStart(connector driver.Connector) *sql.DB {
	db := sql.OpenDB(sqllimit.Wrap(connector,
		sqllimit.WithInFlight(16),                 // at the same time
		sqllimit.WithLimit(sluice.PerSecond(800)), // a read costs 1, a write 2
		sqllimit.WithMaxWait(2*time.Second),       // then a *sqllimit.LimitedError
	))
	return db
}

func docMeasure(ctx context.Context, connector driver.Connector, report func(inFlight int64)) *sql.DB {
	inFlight := sluice.NewConcurrency(1_000_000) // so high that it only counts
	db := sql.OpenDB(sqllimit.Wrap(connector, sqllimit.WithConcurrency(inFlight)))
	go func() {
		for ctx.Err() == nil {
			report(inFlight.InFlight())
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return db
}

func docChange(connector driver.Connector) (*sql.DB, error) {
	inFlight := sluice.NewConcurrency(16)
	rate := sluice.NewLimiter(sluice.PerSecond(800))
	db := sql.OpenDB(sqllimit.Wrap(connector, sqllimit.WithConcurrency(inFlight), sqllimit.WithLimiter(rate)))

	// Later, while it runs:
	err := errors.Join(inFlight.SetLimit(24), rate.SetLimit(sluice.PerSecond(1200)))
	return db, err
}

func docFleet(connector driver.Connector, s store.Store) *sql.DB {
	inFlight := sluice.NewKeyedConcurrency(64, s, 30*time.Second)
	rate := sluice.NewKeyed(sluice.PerSecond(3000), sluice.WithStore(s))
	db := sql.OpenDB(sqllimit.Wrap(connector,
		sqllimit.WithInFlight(8), // this process alone
		sqllimit.WithKeyedConcurrency(inFlight, "orders-primary"),
		sqllimit.WithKeyed(rate, "orders-primary"),
	))
	return db
}

func docReports(connector driver.Connector) *sql.DB {
	const report sqllimit.Class = 10
	db := sql.OpenDB(sqllimit.Wrap(connector,
		sqllimit.WithLimit(sluice.PerSecond(800)),
		sqllimit.WithCost(report, 50),
		sqllimit.WithClassifier(func(query string) sqllimit.Class {
			if len(query) > 2000 {
				return report
			}
			return sqllimit.Classify(query)
		}),
	))
	return db
}

func docRefused(ctx context.Context, db *sql.DB) (retryAfter time.Duration, err error) {
	_, err = db.ExecContext(ctx, "UPDATE stock SET n = n - 1 WHERE id = 7")
	if errors.Is(err, sluice.ErrLimited) {
		var decided *sluice.LimitedError
		if errors.As(err, &decided) {
			retryAfter = decided.Decision.RetryAfter()
		}
	}
	return retryAfter, err
}

func docPool(db *sql.DB) {
	db.SetMaxOpenConns(24) // the limit in flight, and half as many who wait
	db.SetMaxIdleConns(24) // or connections come and go
	db.SetConnMaxIdleTime(5 * time.Minute)
}
