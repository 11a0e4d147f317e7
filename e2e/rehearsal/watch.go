package rehearsal

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"
)

// database is PostgreSQL as it is seen past the guard.
type database struct {
	*sql.DB
	recent atomic.Int64 // the most that were active since it was last asked
	peak   atomic.Int64 // the most ever in this part
}

// busy counts sessions of the application that are at work. The server looks at one after
// the other, so only those count that were busy when it began to look, and still are: else
// one that ends could count beside its successor.
const busy = `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1
	AND state IN ('active', 'idle in transaction') AND xact_start <= statement_timestamp()`

// watch asks again and again what the application's sessions do, until ctx ends.
func (d *database) watch(ctx context.Context) error {
	d.peak.Store(0)
	for ctx.Err() == nil {
		var n int64
		if err := d.QueryRowContext(ctx, busy, applicationInSQL).Scan(&n); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("ask PostgreSQL what it does: %w", err)
		}
		d.recent.Store(max(n, d.recent.Load()))
		d.peak.Store(max(n, d.peak.Load()))
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// orders returns when the server worked on each order, by its own record and clock, and
// forgets them.
func (d *database) orders(ctx context.Context) (spans []span, err error) {
	rows, err := d.QueryContext(ctx, `DELETE FROM orders RETURNING
		(extract(epoch FROM began) * 1000000)::bigint, (extract(epoch FROM ended) * 1000000)::bigint`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var began, ended int64
		if err := rows.Scan(&began, &ended); err != nil {
			return nil, err
		}
		spans = append(spans, span{time.Duration(began) * time.Microsecond, time.Duration(ended) * time.Microsecond})
	}
	return spans, rows.Err()
}

// slow sets how long the server works on an order.
func (d *database) slow(ctx context.Context, milliseconds int) error {
	_, err := d.ExecContext(ctx, "UPDATE pace SET milliseconds = $1", milliseconds)
	return err
}
