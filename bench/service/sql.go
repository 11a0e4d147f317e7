package service

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"

	"github.com/sluice-limiter/sluice/sqllimit"
)

// sqlGuard shows what the guard adds to a query on a driver that does nothing.
func sqlGuard() lineup {
	return lineup{
		name: "sql-guard", over: true,
		says: "A query through `database/sql` on a driver that answers at once with no rows, bare and behind the guard with a limit of queries and one of queries in flight.",
		make: func() ([]*entrant, error) {
			return []*entrant{
				{name: "bare driver", run: querying(sql.OpenDB(idle{}))},
				{name: "guarded", run: querying(sql.OpenDB(sqllimit.Wrap(idle{}, sqllimit.WithLimit(ample), sqllimit.WithInFlight(100))))},
			}, nil
		},
	}
}

func querying(db *sql.DB) func(int) {
	ctx := context.Background()
	return func(n int) {
		for range n {
			rows, err := db.QueryContext(ctx, "SELECT name FROM users WHERE id = 7")
			if err != nil {
				panic(err)
			}
			if rows.Next() || rows.Close() != nil {
				panic("an empty answer has rows")
			}
		}
	}
}

// idle is a database that knows nothing.
type idle struct{}

func (idle) Connect(context.Context) (driver.Conn, error) { return idle{}, nil }
func (idle) Driver() driver.Driver                        { return idle{} }
func (idle) Open(string) (driver.Conn, error)             { return idle{}, nil }
func (idle) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (idle) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (idle) Close() error                                 { return nil }
func (idle) Columns() []string                            { return nil }
func (idle) Next([]driver.Value) error                    { return io.EOF }

func (idle) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return idle{}, nil
}
