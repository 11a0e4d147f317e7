package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"
)

// slowDatabase takes 10 ms for each statement, and counts how many it works on.
type slowDatabase struct{ busy, peak atomic.Int64 }

func (d *slowDatabase) Connect(context.Context) (driver.Conn, error) { return session{d}, nil }
func (d *slowDatabase) Driver() driver.Driver                        { return nil }

type session struct{ db *slowDatabase }

func (s session) ExecContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Result, error) {
	busy := s.db.busy.Add(1)
	defer s.db.busy.Add(-1)
	for peak := s.db.peak.Load(); busy > peak && !s.db.peak.CompareAndSwap(peak, busy); {
		peak = s.db.peak.Load()
	}
	select {
	case <-time.After(10 * time.Millisecond):
		return driver.RowsAffected(1), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s session) Begin() (driver.Tx, error) { return nothing{}, nil }
func (s session) Close() error              { return nil }

func (s session) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("this imitation prepares nothing")
}

type nothing struct{}

func (nothing) Commit() error   { return nil }
func (nothing) Rollback() error { return nil }
