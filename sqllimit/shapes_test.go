package sqllimit_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
)

// The optional interfaces of a connection, one type each.
type (
	pinger        struct{ c *fakeConn }
	execerContext struct{ c *fakeConn }
	execer        struct{ c *fakeConn }
	queryContext  struct{ c *fakeConn }
	queryer       struct{ c *fakeConn }
	preparer      struct{ c *fakeConn }
	beginner      struct{ c *fakeConn }
	resetter      struct{ c *fakeConn }
	validator     struct{ c *fakeConn }
	checker       struct {
		fake *fake
		who  string
	}
)

func (p pinger) Ping(ctx context.Context) error { return p.c.fake.call(ctx, "ping", "") }

func (e execerContext) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	return e.c.exec(ctx, "exec context", q, args)
}

func (e execer) Exec(q string, args []driver.Value) (driver.Result, error) {
	return e.c.exec(context.Background(), "exec", q, args)
}

func (e queryContext) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return e.c.query(ctx, "query context", q, args)
}

func (e queryer) Query(q string, args []driver.Value) (driver.Rows, error) {
	return e.c.query(context.Background(), "query", q, args)
}

func (p preparer) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	return p.c.prepare(ctx, "prepare context", q)
}

func (b beginner) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o.ReadOnly {
		return b.c.begin(ctx, "begin tx", "read only")
	}
	return b.c.begin(ctx, "begin tx", "")
}

func (r resetter) ResetSession(ctx context.Context) error { return r.c.fake.call(ctx, "reset", "") }

func (v validator) IsValid() bool { return v.c.fake.call(context.Background(), "valid", "") == nil }

// odd is an argument that only a driver with a checker of its own takes.
type odd struct{ n int64 }

// dropped is an argument that a driver with a checker takes away.
type dropped struct{}

func (c checker) CheckNamedValue(v *driver.NamedValue) error {
	c.fake.note("check %s %v", c.who, v.Value)
	switch value := v.Value.(type) {
	case odd:
		v.Value = value.n
		return nil
	case dropped:
		return driver.ErrRemoveArgument
	}
	return driver.ErrSkip
}

func (c checker) ColumnConverter(int) driver.ValueConverter { return converter{c.fake} }

type converter struct{ fake *fake }

func (c converter) ConvertValue(v any) (driver.Value, error) {
	c.fake.note("convert %v", v)
	if v == nil {
		return nil, errors.New("no nil here")
	}
	if o, ok := v.(odd); ok {
		return o.n, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

func allConn(c *fakeConn) driver.Conn {
	return struct {
		*fakeConn
		pinger
		execerContext
		queryContext
		preparer
		beginner
		resetter
		validator
		checker
	}{c, pinger{c}, execerContext{c}, queryContext{c}, preparer{c}, beginner{c}, resetter{c}, validator{c}, checker{c.fake, "conn"}}
}

// The optional interfaces of a statement.
type (
	stmtExecer  struct{ s *fakeStmt }
	stmtQueryer struct{ s *fakeStmt }
)

func (e stmtExecer) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return e.s.conn.exec(ctx, "stmt exec context", e.s.query, args)
}

func (e stmtQueryer) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return e.s.conn.query(ctx, "stmt query context", e.s.query, args)
}

func allStmt(s *fakeStmt) driver.Stmt {
	return struct {
		*fakeStmt
		stmtExecer
		stmtQueryer
		checker
	}{s, stmtExecer{s}, stmtQueryer{s}, checker{s.conn.fake, "stmt"}}
}

// The optional interfaces of rows.
type (
	sets      struct{ *fakeRows }
	scanType  struct{ *fakeRows }
	typeName  struct{ *fakeRows }
	length    struct{ *fakeRows }
	nullable  struct{ *fakeRows }
	precision struct{ *fakeRows }
)

func (r sets) HasNextResultSet() bool { return r.sets > 1 }

func (r sets) NextResultSet() error {
	if r.sets <= 1 {
		return io.EOF
	}
	r.sets, r.read = r.sets-1, false
	return nil
}

func (scanType) ColumnTypeScanType(int) reflect.Type                { return reflect.TypeFor[int64]() }
func (typeName) ColumnTypeDatabaseTypeName(int) string              { return "NUMBER" }
func (length) ColumnTypeLength(int) (int64, bool)                   { return 12, true }
func (nullable) ColumnTypeNullable(int) (nullable, ok bool)         { return true, true }
func (precision) ColumnTypePrecisionScale(int) (p, s int64, k bool) { return 9, 2, true }

func allRows(r *fakeRows) driver.Rows {
	type (
		a interface{ HasNextResultSet() bool }
		b interface{ NextResultSet() error }
		c interface{ ColumnTypeScanType(int) reflect.Type }
		d interface{ ColumnTypeDatabaseTypeName(int) string }
		e interface{ ColumnTypeLength(int) (int64, bool) }
		f interface{ ColumnTypeNullable(int) (bool, bool) }
		g interface {
			ColumnTypePrecisionScale(int) (int64, int64, bool)
		}
	)
	return struct {
		*fakeRows
		a
		b
		c
		d
		e
		f
		g
	}{r, sets{r}, sets{r}, scanType{r}, typeName{r}, length{r}, nullable{r}, precision{r}}
}
