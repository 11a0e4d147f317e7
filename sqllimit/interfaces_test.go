package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

var connShapes = map[string]func(c *fakeConn) driver.Conn{
	"nothing": func(c *fakeConn) driver.Conn { return c },
	"all":     allConn,
	"Pinger": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			pinger
		}{c, pinger{c}}
	},
	"ExecerContext": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			execerContext
		}{c, execerContext{c}}
	},
	"Execer": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			execer
		}{c, execer{c}}
	},
	"QueryerContext": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			queryContext
		}{c, queryContext{c}}
	},
	"Queryer": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			queryer
		}{c, queryer{c}}
	},
	"Execer and Queryer": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			execer
			queryer
		}{c, execer{c}, queryer{c}}
	},
	"ConnPrepareContext": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			preparer
		}{c, preparer{c}}
	},
	"ConnBeginTx": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			beginner
		}{c, beginner{c}}
	},
	"SessionResetter": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			resetter
		}{c, resetter{c}}
	},
	"Validator": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			validator
		}{c, validator{c}}
	},
	"SessionResetter and Validator": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			resetter
			validator
		}{c, resetter{c}, validator{c}}
	},
	"NamedValueChecker": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			driver.NamedValueChecker
		}{c, checker{c.fake, "conn"}}
	},
	"NamedValueChecker, ExecerContext and QueryerContext": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			driver.NamedValueChecker
			execerContext
			queryContext
		}{c, checker{c.fake, "conn"}, execerContext{c}, queryContext{c}}
	},
	"ExecerContext, QueryerContext and SessionResetter": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			execerContext
			queryContext
			resetter
		}{c, execerContext{c}, queryContext{c}, resetter{c}}
	},
	"ExecerContext, QueryerContext and Validator": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			execerContext
			queryContext
			validator
		}{c, execerContext{c}, queryContext{c}, validator{c}}
	},
}

type converts interface {
	ColumnConverter(int) driver.ValueConverter
}

var stmtShapes = map[string]func(s *fakeStmt) driver.Stmt{
	"nothing": func(s *fakeStmt) driver.Stmt { return s },
	"all":     allStmt,
	"StmtExecContext": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			stmtExecer
		}{s, stmtExecer{s}}
	},
	"StmtQueryContext": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			stmtQueryer
		}{s, stmtQueryer{s}}
	},
	"NamedValueChecker": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			driver.NamedValueChecker
		}{s, checker{s.conn.fake, "stmt"}}
	},
	"ColumnConverter": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			converts
		}{s, checker{s.conn.fake, "stmt"}}
	},
	"NamedValueChecker and ColumnConverter": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			checker
		}{s, checker{s.conn.fake, "stmt"}}
	},
}

var rowsShapes = map[string]func(r *fakeRows) driver.Rows{
	"nothing":                        func(r *fakeRows) driver.Rows { return r },
	"all":                            allRows,
	"RowsNextResultSet":              func(r *fakeRows) driver.Rows { return sets{r} },
	"RowsColumnTypeScanType":         func(r *fakeRows) driver.Rows { return scanType{r} },
	"RowsColumnTypeDatabaseTypeName": func(r *fakeRows) driver.Rows { return typeName{r} },
	"RowsColumnTypeLength":           func(r *fakeRows) driver.Rows { return length{r} },
	"RowsColumnTypeNullable":         func(r *fakeRows) driver.Rows { return nullable{r} },
	"RowsColumnTypePrecisionScale":   func(r *fakeRows) driver.Rows { return precision{r} },
}

// TestInterfaces: whatever a driver has and lacks, the same calls reach it and the
// same answers come back, wrapped and bare.
func TestInterfaces(t *testing.T) {
	for connName, c := range connShapes {
		for stmtName, s := range stmtShapes {
			for _, skips := range []bool{false, true} {
				name := fmt.Sprintf("conn %s/stmt %s/skips %v", connName, stmtName, skips)
				t.Run(name, func(t *testing.T) { compare(t, &fake{conn: c, stmt: s}, skips) })
			}
		}
	}
	for rowsName, r := range rowsShapes {
		t.Run("rows "+rowsName, func(t *testing.T) { compare(t, &fake{rows: r}, false) })
	}
}

func compare(t *testing.T, shape *fake, skips bool) {
	synctest.Test(t, func(t *testing.T) {
		bare, wrapped := &fake{conn: shape.conn, stmt: shape.stmt, rows: shape.rows}, &fake{conn: shape.conn, stmt: shape.stmt, rows: shape.rows}
		if skips {
			bare.hook, wrapped.hook = skipArgs, skipArgs
		}
		inFlight := sluice.NewConcurrency(2)
		useAll(bare, bare)
		useAll(wrapped, sqllimit.Wrap(wrapped, sqllimit.WithConcurrency(inFlight), sqllimit.WithLimit(sluice.PerSecond(1e6))))
		if !slices.Equal(bare.log, wrapped.log) {
			t.Errorf("bare:\n  %s\nwrapped:\n  %s", strings.Join(bare.log, "\n  "), strings.Join(wrapped.log, "\n  "))
		}
		if n := inFlight.InFlight(); n != 0 {
			t.Errorf("%d permits are lost", n)
		}
	})
}

// skipArgs is a driver that wants queries to be prepared.
func skipArgs(_ context.Context, op, _ string) error {
	if strings.HasPrefix(op, "exec") || strings.HasPrefix(op, "query") {
		return driver.ErrSkip
	}
	return nil
}

type valuer struct{}

func (valuer) Value() (driver.Value, error) { return "value", nil }

// useAll calls everything that asks for an optional interface, and notes the answers.
func useAll(f *fake, c driver.Connector) {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	ctx := context.Background()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	f.note("= ping %v", db.PingContext(ctx))
	for _, args := range [][]any{nil, {1, "a"}, {nil}, {odd{3}}, {1, dropped{}}, {valuer{}}, {sql.Named("x", 1)}, {struct{}{}}} {
		res, err := db.ExecContext(ctx, "INSERT", args...)
		f.note("= exec %v %v", res != nil, err)
		noteRows(f)(db.QueryContext(ctx, "SELECT", args...))
		useStmt(f, db, args)
	}
	_, err := db.ExecContext(ended, "INSERT")
	f.note("= ended %v", err)
	useTx(f, db, ctx, nil)
	useTx(f, db, ctx, &sql.TxOptions{ReadOnly: true})
	useTx(f, db, ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	abandonTx(f, db)
	f.note("= raw %v", rawIsOwn(db))
	f.note("= close %v", db.Close())
}

func noteRows(f *fake) func(*sql.Rows, error) {
	return func(rows *sql.Rows, err error) {
		f.note("= query %v", err)
		if err != nil {
			return
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		for _, c := range types {
			n, ok := c.Length()
			null, known := c.Nullable()
			p, s, has := c.DecimalSize()
			f.note("= type %v %v %v %v %v %v %v %v %v %v", c.ScanType(), c.DatabaseTypeName(), n, ok, null, known, p, s, has, err)
		}
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var n int
				f.note("= row %v %d", rows.Scan(&n), n)
			}
		}
		f.note("= rows %v", rows.Err())
	}
}

func useStmt(f *fake, db *sql.DB, args []any) {
	stmt, err := db.Prepare("UPDATE")
	f.note("= prepare %v", err)
	if err != nil {
		return
	}
	defer stmt.Close()
	res, err := stmt.Exec(args...)
	f.note("= stmt exec %v %v", res != nil, err)
	noteRows(f)(stmt.Query(args...))
}

func useTx(f *fake, db *sql.DB, ctx context.Context, opts *sql.TxOptions) {
	tx, err := db.BeginTx(ctx, opts)
	f.note("= begin %v", err)
	if err != nil {
		return
	}
	_, err = tx.Exec("INSERT", 1)
	f.note("= tx exec %v", err)
	noteRows(f)(tx.Query("SELECT", 1))
	f.note("= commit %v", tx.Commit())
}

// abandonTx ends a transaction by its context: whether the connection is used
// again depends on the interfaces.
func abandonTx(f *fake, db *sql.DB) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	f.note("= begin %v", err)
	if err != nil {
		return
	}
	cancel()
	synctest.Wait()
	f.note("= commit %v", tx.Commit())
	f.note("= ping %v", db.Ping())
}

// rawIsOwn reports whether the driver's own connection can be had.
func rawIsOwn(db *sql.DB) (own bool) {
	c, err := db.Conn(context.Background())
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.Raw(func(dc any) error {
		_, own = sqllimit.Unwrap(dc).(interface{ work(int) })
		return nil
	})
	return own
}
