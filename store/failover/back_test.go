package failover_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
)

// TestBackAfterShortOutage: the log hears that the store is back also if it was not away
// for long enough to open the breaker, at most once a second; and not if one value cannot
// be read, with which the store has nothing to do.
func TestBackAfterShortOutage(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		times int
		pause time.Duration
		want  int
	}{
		{"one failure", errReset, 1, 0, 1},
		{"none", nil, 1, 0, 0},
		{"a value", store.ErrState, 1, 0, 0},
		{"now and then", errReset, 10, 700 * time.Millisecond, 6}, // every other time, and at last
		{"rarely", errReset, 5, 5 * time.Second, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				w := newWorld(t, failover.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				defer w.store.Close()
				for range c.times {
					w.main.set(c.err, 0, false)
					w.spend(w.store)
					w.main.set(nil, 0, false)
					for range 3 {
						w.spend(w.store)
					}
					time.Sleep(c.pause)
				}
				time.Sleep(time.Second)
				w.spend(w.store) // the last line, if it came too soon before
				if s := w.store.Stats(); s.Opened != 0 {
					t.Fatalf("%+v", s)
				}
				if got := strings.Count(log.String(), "the store is back"); got != c.want {
					t.Errorf("%d times, want %d:\n%s", got, c.want, &log)
				}
			})
		})
	}
}
