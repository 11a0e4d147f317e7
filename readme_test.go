package sluice_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"testing"

	"github.com/sluice-limiter/sluice"
)

var errBusy = errors.New("busy")

// The functions that follow are the README's pieces of code.

func readmeLimiter(ctx context.Context) error {
	limiter := sluice.NewLimiter(sluice.PerSecond(100))
	if !limiter.Allow() {
		return errBusy // drop what is too much
	}
	if err := limiter.Wait(ctx); err != nil {
		return err // or slow down, first come first served
	}
	return nil
}

func readmeKeyed(ctx context.Context, w http.ResponseWriter, userID string) error {
	users := sluice.NewKeyed(sluice.PerMinute(60), sluice.WithLimits(sluice.PerHour(1000)))
	d, err := users.Allow(ctx, userID)
	if err == nil && !d.Allowed {
		// Exact: after RetryAfter it will be allowed, and not a microsecond before.
		seconds := math.Ceil(d.RetryAfter().Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	return err
}

func readmeReserve(ctx context.Context, tokens *sluice.Keyed, tenant string, estimate int64, answer func() int64) error {
	r, err := tokens.Reserve(ctx, tenant, estimate)
	if err != nil || !r.OK() {
		return err
	}
	used := answer()
	return r.Commit(ctx, used) // gives back what was not used, or books the debt
}

// TestReadme: the pieces work. That they stand in the README is checked by internal/lint.
func TestReadme(t *testing.T) {
	if err := errors.Join(
		readmeLimiter(t.Context()),
		readmeKeyed(t.Context(), nil, "ann"),
		readmeReserve(t.Context(), sluice.NewKeyed(sluice.PerHour(10)), "acme", 5, func() int64 { return 3 }),
	); err != nil {
		t.Error(err)
	}
}
