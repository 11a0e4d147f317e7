package sqllimit

import (
	"context"
	"database/sql/driver"
	"errors"
)

// What drivers had before there were contexts; database/sql still asks for it.
type (
	oldExecer interface {
		Exec(query string, args []driver.Value) (driver.Result, error)
	}
	oldQueryer interface {
		Query(query string, args []driver.Value) (driver.Rows, error)
	}
	oldBeginner interface {
		Begin() (driver.Tx, error)
	}
	oldStmt interface {
		Exec(args []driver.Value) (driver.Result, error)
		Query(args []driver.Value) (driver.Rows, error)
	}
	columnConverter interface {
		ColumnConverter(i int) driver.ValueConverter
	}
)

var errNamed = errors.New("sql: driver does not support the use of Named Parameters")

// plainValues are the arguments for a driver that knows neither names nor
// contexts, with the errors that database/sql gives then.
func plainValues(ctx context.Context, named []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(named))
	for i, v := range named {
		if v.Name != "" {
			return nil, errNamed
		}
		values[i] = v.Value
	}
	return values, ctx.Err()
}

// ordinals are the arguments of a caller that knows no contexts.
func ordinals(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named
}
