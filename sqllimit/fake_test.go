package sqllimit_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
)

// fake is a database that writes down what it is asked. Its connections,
// statements and rows have only the interfaces that the shapes give them.
type fake struct {
	conn func(*fakeConn) driver.Conn
	stmt func(*fakeStmt) driver.Stmt
	rows func(*fakeRows) driver.Rows
	hook func(ctx context.Context, op, query string) error // the work, and what goes wrong

	mu         sync.Mutex
	log        []string
	busy, peak int // statements, open rows and transactions at the same time
}

func (f *fake) Connect(ctx context.Context) (driver.Conn, error) {
	if err := f.call(ctx, "connect", ""); err != nil {
		return nil, err
	}
	c := &fakeConn{fake: f}
	if f.conn == nil {
		return allConn(c), nil
	}
	return f.conn(c), nil
}

func (f *fake) Driver() driver.Driver { return oldDriver{f} }

// oldDriver makes no connectors.
type oldDriver struct{ fake *fake }

func (d oldDriver) Open(name string) (driver.Conn, error) {
	d.fake.note("open %s", name)
	return d.fake.Connect(context.Background())
}

// newDriver makes connectors, which can be closed.
type newDriver struct{ oldDriver }

func (d newDriver) OpenConnector(name string) (driver.Connector, error) {
	if name == "bad" {
		return nil, errors.New("bad name")
	}
	return closing{d.fake}, nil
}

type closing struct{ *fake }

func (c closing) Close() error {
	c.note("close connector")
	return errors.New("connector is closed")
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fake) call(ctx context.Context, op, query string) error {
	f.note("%s %s", op, query)
	if f.hook != nil {
		return f.hook(ctx, op, query)
	}
	return nil
}

// work counts what the database is busy with.
func (f *fake) work(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy += by
	f.peak = max(f.peak, f.busy)
}

// fakeConn has what every connection must have.
type fakeConn struct {
	fake *fake
	inTx bool
}

func (c *fakeConn) work(by int) {
	if !c.inTx {
		c.fake.work(by)
	}
}

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) {
	return c.prepare(context.Background(), "prepare", query)
}

func (c *fakeConn) prepare(ctx context.Context, op, query string) (driver.Stmt, error) {
	c.work(1)
	defer c.work(-1)
	if err := c.fake.call(ctx, op, query); err != nil {
		return nil, err
	}
	s := &fakeStmt{conn: c, query: query}
	if c.fake.stmt == nil {
		return allStmt(s), nil
	}
	return c.fake.stmt(s), nil
}

func (c *fakeConn) Close() error {
	return c.fake.call(context.Background(), "close", "")
}

func (c *fakeConn) Begin() (driver.Tx, error) { return c.begin(context.Background(), "begin", "") }

func (c *fakeConn) begin(ctx context.Context, op, options string) (driver.Tx, error) {
	c.work(1)
	if err := c.fake.call(ctx, op, options); err != nil {
		c.work(-1)
		return nil, err
	}
	c.inTx = true
	return fakeTx{c}, nil
}

func (c *fakeConn) exec(ctx context.Context, op, query string, args any) (driver.Result, error) {
	c.work(1)
	defer c.work(-1)
	c.fake.note("args %v", args)
	if err := c.fake.call(ctx, op, query); err != nil {
		return nil, err
	}
	return driver.RowsAffected(7), nil
}

func (c *fakeConn) query(ctx context.Context, op, query string, args any) (_ driver.Rows, err error) {
	r := &fakeRows{conn: c, sets: 2, counted: !c.inTx}
	c.work(1)
	defer func() {
		if err != nil || !r.handedOut {
			r.rest()
		}
	}()
	c.fake.note("args %v", args)
	if err := c.fake.call(ctx, op, query); err != nil {
		return nil, err
	}
	r.handedOut = true
	if c.fake.rows == nil {
		return allRows(r), nil
	}
	return c.fake.rows(r), nil
}

type fakeTx struct{ conn *fakeConn }

func (t fakeTx) Commit() error   { return t.end("commit") }
func (t fakeTx) Rollback() error { return t.end("rollback") }

func (t fakeTx) end(op string) error {
	defer func() {
		t.conn.inTx = false
		t.conn.work(-1)
	}()
	return t.conn.fake.call(context.Background(), op, "")
}

// fakeStmt has what every statement must have.
type fakeStmt struct {
	conn  *fakeConn
	query string
}

func (s *fakeStmt) Close() error {
	return s.conn.fake.call(context.Background(), "close stmt", s.query)
}
func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.conn.exec(context.Background(), "stmt exec", s.query, args)
}

func (s *fakeStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.conn.query(context.Background(), "stmt query", s.query, args)
}

// fakeRows has what all rows must have: one column, and one row in each set.
type fakeRows struct {
	conn      *fakeConn
	sets      int
	read      bool
	counted   bool
	handedOut bool
}

func (r *fakeRows) Columns() []string { return []string{"n"} }

// rest ends the work for the rows.
func (r *fakeRows) rest() {
	if r.counted {
		r.counted = false
		r.conn.fake.work(-1)
	}
}

func (r *fakeRows) Close() error {
	r.rest()
	return r.conn.fake.call(context.Background(), "close rows", "")
}

func (r *fakeRows) Next(dest []driver.Value) error {
	if err := r.conn.fake.call(context.Background(), "next", ""); err != nil {
		return err
	}
	if r.read {
		return io.EOF
	}
	r.read = true
	dest[0] = int64(r.sets)
	return nil
}
