package sqllimit

import (
	"context"
	"database/sql/driver"
)

// Exec is for callers other than database/sql.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), ordinals(args))
}

// Query is for callers other than database/sql.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), ordinals(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	t, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer t.release()
	res, err := s.execute(ctx, args)
	s.conn.settle(&t, "", err)
	return res, err
}

func (s *stmt) execute(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := s.inner.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return oldStmt(s.inner).Exec(values)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	t, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { t.release() }() // what is left of it when the rows have taken theirs
	inner, err := s.fetch(ctx, args)
	if err != nil {
		s.conn.settle(&t, "", err)
		return inner, err
	}
	return s.conn.wrapRows(inner, &t), nil
}

func (s *stmt) fetch(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.inner.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	values, err := plainValues(ctx, args)
	if err != nil {
		return nil, err
	}
	return oldStmt(s.inner).Query(values)
}
