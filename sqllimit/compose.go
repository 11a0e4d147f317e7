package sqllimit

import (
	"context"
	"database/sql/driver"
)

// Of these interfaces database/sql asks whether a connection has them, and behaves
// in another way if not, which no answer of ours can stand for: arguments are
// converted by the statement instead of the connection, and a connection with only
// one of the last two is not kept after a rollback.
const (
	execs = 1 << iota
	queries
	resets
	validates
)

// wrapConn returns a connection with exactly those interfaces that inner has.
func wrapConn(inner driver.Conn, g *guard) driver.Conn {
	c := &conn{inner: inner, guard: g}
	reset, _ := inner.(driver.SessionResetter)
	if reset != nil {
		reset = resetter{c, reset}
	}
	valid, _ := inner.(driver.Validator)
	return compose(c, (*execConn)(c), (*queryConn)(c), reset, valid, abilities(inner))
}

func abilities(c driver.Conn) (has int) {
	switch c.(type) {
	case driver.ExecerContext, oldExecer:
		has |= execs
	}
	switch c.(type) {
	case driver.QueryerContext, oldQueryer:
		has |= queries
	}
	if _, ok := c.(driver.SessionResetter); ok {
		has |= resets
	}
	if _, ok := c.(driver.Validator); ok {
		has |= validates
	}
	return has
}

// resetter gives back what a statement left that was skipped and then not prepared.
type resetter struct {
	conn  *conn
	inner driver.SessionResetter
}

func (r resetter) ResetSession(ctx context.Context) error {
	r.conn.dropSkipped()
	return r.inner.ResetSession(ctx)
}

// compose is one flat table: Go has no way to add a method to a value.
func compose(c *conn, e driver.ExecerContext, q driver.QueryerContext, r driver.SessionResetter, v driver.Validator, has int) driver.Conn {
	switch has {
	case execs:
		return struct {
			*conn
			driver.ExecerContext
		}{c, e}
	case queries:
		return struct {
			*conn
			driver.QueryerContext
		}{c, q}
	case execs | queries:
		return struct {
			*conn
			driver.ExecerContext
			driver.QueryerContext
		}{c, e, q}
	case resets:
		return struct {
			*conn
			driver.SessionResetter
		}{c, r}
	case execs | resets:
		return struct {
			*conn
			driver.ExecerContext
			driver.SessionResetter
		}{c, e, r}
	case queries | resets:
		return struct {
			*conn
			driver.QueryerContext
			driver.SessionResetter
		}{c, q, r}
	case execs | queries | resets:
		return struct {
			*conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
		}{c, e, q, r}
	case validates:
		return struct {
			*conn
			driver.Validator
		}{c, v}
	case execs | validates:
		return struct {
			*conn
			driver.ExecerContext
			driver.Validator
		}{c, e, v}
	case queries | validates:
		return struct {
			*conn
			driver.QueryerContext
			driver.Validator
		}{c, q, v}
	case execs | queries | validates:
		return struct {
			*conn
			driver.ExecerContext
			driver.QueryerContext
			driver.Validator
		}{c, e, q, v}
	case resets | validates:
		return struct {
			*conn
			driver.SessionResetter
			driver.Validator
		}{c, r, v}
	case execs | resets | validates:
		return struct {
			*conn
			driver.ExecerContext
			driver.SessionResetter
			driver.Validator
		}{c, e, r, v}
	case queries | resets | validates:
		return struct {
			*conn
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
		}{c, q, r, v}
	case execs | queries | resets | validates:
		return struct {
			*conn
			driver.ExecerContext
			driver.QueryerContext
			driver.SessionResetter
			driver.Validator
		}{c, e, q, r, v}
	}
	return c
}
