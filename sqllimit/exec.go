package sqllimit

import (
	"context"
	"database/sql/driver"
)

// execConn is a connection that runs statements without preparing them.
type execConn conn

func (e *execConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c := (*conn)(e)
	t, err := c.enter(ctx, c.guard.weigh(query))
	if err != nil {
		return nil, err
	}
	defer t.release()
	res, err := execute(ctx, c.inner, query, args)
	c.settle(&t, query, err)
	return res, err
}

// execute calls the driver in the way that database/sql would.
func execute(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return c.(oldExecer).Exec(query, values)
}

// queryConn is a connection that runs queries without preparing them.
type queryConn conn

func (q *queryConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c := (*conn)(q)
	t, err := c.enter(ctx, c.guard.weigh(query))
	if err != nil {
		return nil, err
	}
	defer func() { t.release() }() // what is left of it when the rows have taken theirs
	inner, err := fetch(ctx, c.inner, query, args)
	if err != nil {
		c.settle(&t, query, err)
		return inner, err
	}
	return c.wrapRows(inner, &t), nil
}

// fetch calls the driver in the way that database/sql would.
func fetch(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return c.(oldQueryer).Query(query, values)
}
