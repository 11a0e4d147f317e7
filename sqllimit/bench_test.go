package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

// quick is a database that costs nothing, so that only the guard is measured.
type quick struct{}

func (quick) Connect(context.Context) (driver.Conn, error) { return quick{}, nil }
func (quick) Driver() driver.Driver                        { return nil }
func (quick) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (quick) Close() error                                 { return nil }
func (quick) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (quick) Columns() []string                            { return nil }
func (quick) Next([]driver.Value) error                    { return io.EOF }
func (quick) ResetSession(context.Context) error           { return nil }
func (quick) IsValid() bool                                { return true }

func (quick) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return driver.ResultNoRows, nil
}

func (quick) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return quick{}, nil
}

const benchQuery = "SELECT id, name, price, created_at FROM products WHERE category = $1 AND price < $2 ORDER BY created_at DESC LIMIT 50"

func guardedQuick() driver.Connector {
	return sqllimit.Wrap(quick{}, sqllimit.WithInFlight(1000), sqllimit.WithLimit(sluice.PerSecond(1e9)))
}

func BenchmarkQuery(b *testing.B) {
	for name, c := range map[string]driver.Connector{"bare": quick{}, "wrapped": guardedQuick()} {
		b.Run(name, func(b *testing.B) {
			db := sql.OpenDB(c)
			defer db.Close()
			b.ReportAllocs()
			for b.Loop() {
				rows, err := db.Query(benchQuery)
				if err != nil || rows.Next() {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExec(b *testing.B) {
	for name, c := range map[string]driver.Connector{"bare": quick{}, "wrapped": guardedQuick()} {
		b.Run(name, func(b *testing.B) {
			db := sql.OpenDB(c)
			defer db.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := db.Exec("UPDATE products SET price = $1 WHERE id = $2"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if sqllimit.Classify(benchQuery) != sqllimit.Read {
			b.Fatal("not a read")
		}
	}
}
