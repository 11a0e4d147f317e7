package sqllimit

import (
	"context"
	"database/sql/driver"
	"io"
)

// Wrap returns a connector whose connections are limited, for sql.OpenDB. It
// panics if an option makes no sense, or if none of them is a limit.
func Wrap(c driver.Connector, opts ...Option) driver.Connector {
	mustHave("Wrap", c != nil)
	return &connector{inner: c, guard: newGuard("Wrap", opts)}
}

// WrapDriver returns a driver whose connections are limited, all of them
// together, for sql.Register. It panics if an option makes no sense, or if none of
// them is a limit.
func WrapDriver(d driver.Driver, opts ...Option) driver.Driver {
	mustHave("WrapDriver", d != nil)
	return &guarded{inner: d, guard: newGuard("WrapDriver", opts)}
}

type connector struct {
	inner driver.Connector
	guard *guard
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return wrapConn(inner, c.guard), nil
}

// Driver returns the driver that was wrapped: who asks sql.DB for it wants to
// know which database this is.
func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

func (c *connector) Close() error {
	if closer, ok := c.inner.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// guarded is a driver whose connections are limited.
type guarded struct {
	inner driver.Driver
	guard *guard
}

func (d *guarded) Open(name string) (driver.Conn, error) {
	inner, err := d.inner.Open(name)
	if err != nil {
		return nil, err
	}
	return wrapConn(inner, d.guard), nil
}

func (d *guarded) OpenConnector(name string) (driver.Connector, error) {
	opener, ok := d.inner.(driver.DriverContext)
	if !ok {
		return &connector{inner: named{d.inner, name}, guard: d.guard}, nil
	}
	inner, err := opener.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return &connector{inner: inner, guard: d.guard}, nil
}

// named is what database/sql makes of a driver that makes no connectors.
type named struct {
	driver driver.Driver
	name   string
}

func (n named) Connect(context.Context) (driver.Conn, error) { return n.driver.Open(n.name) }
func (n named) Driver() driver.Driver                        { return n.driver }

// Unwrap returns the driver's own connection, for the argument of the function
// that sql.Conn's Raw calls. What is done with it is not limited. Any other value
// is returned as it is.
func Unwrap(driverConn any) any {
	if c, ok := driverConn.(interface{ unwrap() driver.Conn }); ok {
		return c.unwrap()
	}
	return driverConn
}
