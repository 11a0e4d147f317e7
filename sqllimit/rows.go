package sqllimit

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// rows hold their permit until they are closed or read to the end. The optional
// interfaces that the driver's rows lack answer what database/sql assumes then.
type rows struct {
	inner  driver.Rows
	conn   *conn
	ticket ticket
}

// wrapRows moves the ticket into the rows. Without a permit there is nothing to
// wait for, and the driver's own rows will do.
func (c *conn) wrapRows(inner driver.Rows, t *ticket) driver.Rows {
	if t.permit == nil || inner == nil {
		return inner
	}
	r := &rows{inner: inner, conn: c, ticket: *t}
	*t = ticket{}
	c.hold(&r.ticket)
	return r
}

func (r *rows) Columns() []string { return r.inner.Columns() }

func (r *rows) Close() error {
	defer r.conn.letGo(&r.ticket)
	return r.inner.Close()
}

func (r *rows) Next(dest []driver.Value) error {
	err := r.inner.Next(dest)
	if err == io.EOF && !r.HasNextResultSet() {
		r.conn.letGo(&r.ticket)
	}
	return err
}

func (r *rows) HasNextResultSet() bool {
	n, ok := r.inner.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

func (r *rows) NextResultSet() error {
	if n, ok := r.inner.(driver.RowsNextResultSet); ok {
		return n.NextResultSet()
	}
	return io.EOF
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if c, ok := r.inner.(driver.RowsColumnTypeScanType); ok {
		return c.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if c, ok := r.inner.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return c.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	if c, has := r.inner.(driver.RowsColumnTypeLength); has {
		return c.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if c, has := r.inner.(driver.RowsColumnTypeNullable); has {
		return c.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if c, has := r.inner.(driver.RowsColumnTypePrecisionScale); has {
		return c.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
