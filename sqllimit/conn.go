package sqllimit

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
)

// conn has what every connection has, and the optional interfaces whose absence
// database/sql treats as the answers given here. The others are added by wrapConn.
// As any driver's connection it is not used by two goroutines at once.
type conn struct {
	inner   driver.Conn
	guard   *guard
	tx      *tx       // the transaction that has begun, or nil
	held    []*ticket // of open rows, the transaction, and statements paid ahead
	skipped skipped
}

// skipped is the ticket of a statement that the driver did not want to run without
// preparing it. database/sql prepares it next.
type skipped struct {
	ticket ticket
	query  string
	any    bool
}

func (c *conn) unwrap() driver.Conn { return c.inner }

func (c *conn) Close() error {
	defer c.releaseAll()
	return c.inner.Close()
}

func (c *conn) releaseAll() {
	c.dropSkipped()
	for _, t := range c.held {
		t.release()
	}
	c.held, c.tx = nil, nil
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.inner.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.inner.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// enter takes what a statement needs.
func (c *conn) enter(ctx context.Context, w weight) (ticket, error) {
	c.dropSkipped()
	if w.class == Free {
		return ticket{}, nil
	}
	return c.admit(ctx, w.class, c.guard.price(w))
}

// admit takes the cost, and a permit unless the transaction has one.
func (c *conn) admit(ctx context.Context, class Class, cost int64) (ticket, error) {
	if c.tx == nil {
		return c.guard.admit(ctx, class, cost, true)
	}
	if err := c.tx.ticket.regain(ctx, class); err != nil {
		return ticket{}, err
	}
	return c.guard.admit(ctx, class, cost, false)
}

// settle looks at how the driver answered a statement that the ticket was taken
// for. One that was not run is not paid.
func (c *conn) settle(t *ticket, query string, err error) {
	switch {
	case err == nil:
	case query != "" && err == driver.ErrSkip: // compared as database/sql does
		c.skipped = skipped{ticket: *t, query: query, any: true}
		*t = ticket{}
	case errors.Is(err, driver.ErrBadConn):
		t.undo()
	}
}

// paidAhead returns the ticket that was taken for the query when the driver
// skipped it.
func (c *conn) paidAhead(query string) (ticket, bool) {
	if !c.skipped.any || c.skipped.query != query {
		c.dropSkipped()
		return ticket{}, false
	}
	t := c.skipped.ticket
	c.skipped = skipped{}
	return t, true
}

// dropSkipped gives back what was taken for a statement that nobody prepared.
func (c *conn) dropSkipped() {
	if c.skipped.any {
		c.skipped.ticket.undo()
		c.skipped = skipped{}
	}
}

// hold remembers a ticket that outlives a call, so that Close can release it.
func (c *conn) hold(t *ticket) { c.held = append(c.held, t) }

// letGo forgets the ticket and releases it.
func (c *conn) letGo(t *ticket) {
	if i := slices.Index(c.held, t); i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
	}
	t.release()
}
