package sluice_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
)

var errBusy = errors.New("busy")

// The functions that follow are the README's pieces of code. They are compiled,
// and the test compares them with the README.

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

// TestReadme: every Go block of the README is compiled code, and the pieces work.
func TestReadme(t *testing.T) {
	if err := errors.Join(
		readmeLimiter(t.Context()),
		readmeKeyed(t.Context(), nil, "ann"),
		readmeReserve(t.Context(), sluice.NewKeyed(sluice.PerHour(10)), "acme", 5, func() int64 { return 3 }),
	); err != nil {
		t.Error(err)
	}
	code := ""
	for _, file := range []string{"readme_test.go", "examples/readme/main.go", "contrib/rueidis/example_fleet_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	if len(blocks) != 5 {
		t.Errorf("%d Go blocks, want 5", len(blocks))
	}
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		indented := "\t" + strings.ReplaceAll(strings.TrimSpace(b), "\n", "\n\t")
		indented = strings.ReplaceAll(indented, "\n\t\n", "\n\n")
		if !strings.Contains(code, b) && !strings.Contains(code, indented) {
			t.Errorf("not compiled anywhere:\n%s", b)
		}
	}
}
