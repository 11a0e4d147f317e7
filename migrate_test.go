package sluice_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// The functions that follow are the pieces of code of docs/migrate/x-time-rate.md.

func migrateLimiter(ctx context.Context) error {
	// was: limiter := rate.NewLimiter(10, 20)
	limiter := sluice.NewLimiter(sluice.PerSecond(10).WithBurst(20))
	if err := limiter.Wait(ctx); err != nil {
		return err
	}
	return nil
}

func migrateMap(ctx context.Context, userID string) error {
	users := sluice.NewKeyed(sluice.PerSecond(10).WithBurst(20))
	d, err := users.Allow(ctx, userID)
	if err != nil {
		return err // cannot be decided: does not happen in process
	}
	if !d.Allowed {
		return fmt.Errorf("too many requests, come back in %v", d.RetryAfter())
	}
	return nil
}

func TestMigrate(t *testing.T) {
	if err := migrateLimiter(t.Context()); err != nil {
		t.Error(err)
	}
	if err := migrateMap(t.Context(), "ann"); err != nil {
		t.Error(err)
	}
}
