package lease_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
)

// TestTooSlow: a store that needs longer to answer than a lease lives is asked
// directly, and all is well.
func TestTooSlow(t *testing.T) {
	in(t, thousands, func(t *testing.T, m *member) {
		m.far.slowest = 80 * time.Millisecond
		for range 2_000 {
			m.fleet.load.Go(func() {
				if !m.ask(1) {
					t.Error("denied")
				}
			})
		}
		m.fleet.load.Wait()
		if over := m.fleet.log.excess(thousands); over > 0 {
			t.Errorf("%d beyond the limit", over)
		}
	})
}

// TestStoreDown: who waits is told; what is leased serves on until its deadline;
// and when the store is back, so are the leases.
func TestStoreDown(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	in(t, hourly, func(t *testing.T, m *member) {
		m.warm()
		m.far.cut.Store(true)
		if !m.ask(1) {
			t.Error("the lease has tokens, and denies")
		}
		time.Sleep(lease.DefaultAge)
		for range 20 {
			m.fleet.load.Go(func() {
				err := m.Take(context.Background(), store.Spend, []store.Check{{Key: "k", Spec: m.fleet.spec, Cost: 1}})
				if !errors.Is(err, errLost) {
					t.Errorf("got %v, want %v", err, errLost)
				}
			})
		}
		m.fleet.load.Wait()
		m.far.cut.Store(false)
		m.warm()
		asked := time.Now()
		if !m.ask(1) || time.Since(asked) > 0 {
			t.Errorf("answered after %v", time.Since(asked))
		}
	}, lease.WithLogger(log))
	if n := strings.Count(text.String(), "unused tokens are lost"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, text.String())
	}
}

// TestLosingRefills: a refill that fails in the background is told to the logger,
// at most once a second, and to no request.
func TestLosingRefills(t *testing.T) {
	var text bytes.Buffer
	in(t, thousands, func(t *testing.T, m *member) {
		m.warm()
		for range 100 {
			m.far.cut.Store(true)
			m.wait(t, 3*time.Millisecond)
			m.far.cut.Store(false)
			m.wait(t, 20*time.Millisecond)
		}
	}, lease.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
	if n := strings.Count(text.String(), "refill failed"); n < 1 || n > 4 {
		t.Errorf("%d warnings in about two seconds:\n%s", n, text.String())
	}
}

// wait lets time go by in which a request comes every 100 µs.
func (m *member) wait(t *testing.T, span time.Duration) {
	t.Helper()
	for start := time.Now(); time.Since(start) < span; time.Sleep(100 * time.Microsecond) {
		m.ask(1)
	}
}
