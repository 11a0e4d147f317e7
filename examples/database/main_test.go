package main

import (
	"database/sql"
	"testing"

	"github.com/sluice-limiter/sluice/sqllimit"
)

func TestMainRuns(*testing.T) { main() }

func TestGuardHolds(t *testing.T) {
	seen := &slowDatabase{}
	flood(seen, sql.OpenDB(sqllimit.Wrap(seen, sqllimit.WithInFlight(3))), "with a guard")
	if peak := seen.peak.Load(); peak < 1 || peak > 3 {
		t.Errorf("%d statements at the same time, want 1 to 3", peak)
	}
}
