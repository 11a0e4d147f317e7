package sqllimit

import (
	"context"
	"database/sql/driver"
)

// stmt has what every statement has, and the optional interfaces whose absence
// database/sql treats as the answers given here.
type stmt struct {
	inner  driver.Stmt
	conn   *conn
	weight weight
	ahead  ticket // taken before it was prepared, for its first run
	paid   bool   // ahead is to be used
}

// Prepare is for callers other than database/sql.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext needs a permit, since the database works, and costs nothing.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s := &stmt{conn: c, weight: c.guard.weigh(query)}
	t, paid := c.paidAhead(query)
	if !paid && s.weight.class != Free {
		var err error
		if t, err = c.admit(ctx, s.weight.class, 0); err != nil {
			return nil, err
		}
	}
	defer func() { t.undo() }() // what is left of it
	inner, err := prepare(ctx, c.inner, query)
	if err != nil {
		return inner, err
	}
	s.inner = inner
	if paid {
		s.ahead, s.paid = t, true
		t = ticket{}
		c.hold(&s.ahead)
	}
	if converter, ok := inner.(columnConverter); ok {
		return struct {
			*stmt
			columnConverter
		}{s, converter}, nil
	}
	return s, nil
}

// prepare calls the driver in the way that database/sql would.
func prepare(ctx context.Context, c driver.Conn, query string) (driver.Stmt, error) {
	if p, ok := c.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	s, err := c.Prepare(query)
	if err != nil {
		return s, err
	}
	if err := ctx.Err(); err != nil {
		_ = s.Close() // the context's error is the one to tell
		return nil, err
	}
	return s, nil
}

func (s *stmt) NumInput() int { return s.inner.NumInput() }

func (s *stmt) Close() error {
	if s.paid { // its arguments did not fit
		t := s.takeAhead()
		t.undo()
	}
	return s.inner.Close()
}

// CheckNamedValue asks the statement, else the connection, as database/sql does.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := s.inner.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// enter takes what a run needs, unless that was done before.
func (s *stmt) enter(ctx context.Context) (ticket, error) {
	if s.paid {
		return s.takeAhead(), nil
	}
	return s.conn.enter(ctx, s.weight)
}

func (s *stmt) takeAhead() ticket {
	t := s.ahead
	s.ahead, s.paid = ticket{}, false
	s.conn.letGo(&s.ahead)
	return t
}
