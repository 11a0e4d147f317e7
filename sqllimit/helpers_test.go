package sqllimit_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

// guardedDB returns a limited database. The test fails if a permit is not given
// back at its end.
func guardedDB(t *testing.T, f *fake, inFlight int64, opts ...sqllimit.Option) (*sql.DB, *sluice.Concurrency) {
	c := sluice.NewConcurrency(inFlight)
	db := sql.OpenDB(sqllimit.Wrap(f, append(opts, sqllimit.WithConcurrency(c))...))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		wantInFlight(t, c, 0)
	})
	return db, c
}

func wantInFlight(t *testing.T, c *sluice.Concurrency, want int64) {
	t.Helper()
	if got := c.InFlight(); got != want {
		t.Errorf("%d in flight, want %d", got, want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantLimited checks the error of a statement that was refused.
func wantLimited(t *testing.T, err error, inFlight bool) *sqllimit.LimitedError {
	t.Helper()
	var limited *sqllimit.LimitedError
	if !errors.Is(err, sluice.ErrLimited) || !errors.As(err, &limited) || limited.InFlight != inFlight {
		t.Fatalf("error %v, want a LimitedError, in flight %v", err, inFlight)
	}
	return limited
}

// takes lets every statement take d, or until its context ends.
func takes(d time.Duration) func(context.Context, string, string) error {
	return func(ctx context.Context, op, _ string) error {
		switch op {
		case "exec context", "query context", "stmt exec context", "stmt query context":
		default:
			return nil
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connect returns a connection to call without database/sql.
func connect(t *testing.T, c driver.Connector) driver.ExecerContext {
	t.Helper()
	return must[driver.Conn](t)(c.Connect(t.Context())).(driver.ExecerContext)
}

// explosive is an observer that panics once, after some denials.
type explosive struct{ after, denials int }

func (e *explosive) Observe(_ string, _ int64, d sluice.Decision) {
	if !d.Allowed {
		e.denials++
	}
	if e.denials == e.after {
		e.after = -1
		panic("observer")
	}
}
