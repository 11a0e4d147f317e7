package sqllimit

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// tx holds one permit from its begin to its end, or another if a store lost it.
type tx struct {
	inner  driver.Tx
	conn   *conn
	ticket ticket
}

// Begin is for callers other than database/sql.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.dropSkipped()
	t, err := c.admit(ctx, Free, 0)
	if err != nil {
		return nil, err
	}
	defer func() { t.release() }() // what is left of it when the transaction has taken its own
	inner, err := begin(ctx, c.inner, opts)
	if err != nil {
		return inner, err
	}
	begun := &tx{inner: inner, conn: c, ticket: t}
	t = ticket{}
	c.tx = begun
	c.hold(&begun.ticket)
	return begun, nil
}

func (t *tx) Commit() error {
	defer t.end()
	return t.inner.Commit()
}

func (t *tx) Rollback() error {
	defer t.end()
	return t.inner.Rollback()
}

func (t *tx) end() {
	if t.conn.tx == t {
		t.conn.tx = nil
	}
	t.conn.letGo(&t.ticket)
}

// Errors with the words of database/sql.
var (
	errIsolation = errors.New("sql: driver does not support non-default isolation level")
	errReadOnly  = errors.New("sql: driver does not support read-only transactions")
)

// begin calls the driver in the way that database/sql would.
func begin(ctx context.Context, c driver.Conn, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	if opts.Isolation != driver.IsolationLevel(sql.LevelDefault) {
		return nil, errIsolation
	}
	if opts.ReadOnly {
		return nil, errReadOnly
	}
	begun, err := oldBeginner(c).Begin()
	if err != nil {
		return begun, err
	}
	if err := ctx.Err(); err != nil {
		_ = begun.Rollback() // the context's error is the one to tell
		return nil, err
	}
	return begun, nil
}
