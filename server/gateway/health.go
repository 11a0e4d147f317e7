package gateway

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice/server/config"
)

// health says whether a server is asked. It is down after so many failures in a row,
// whether requests of clients failed or our own checks. If there are checks, they bring
// it up again; if not, one request at a time tries it.
type health struct {
	settings config.Health
	server   *server
	base     time.Time // times are counted from here, by a clock that never goes back
	logger   *slog.Logger
	gauge    prometheus.Gauge

	down   atomic.Bool
	fails  atomic.Int64 // in a row
	tryAt  atomic.Int64 // when a server that is down gets a request; in nanoseconds
	passed int          // checks in a row; only of the goroutine that checks

	stop    context.CancelFunc
	checked sync.WaitGroup
}

func newHealth(s *server, c config.Upstream, o *Options) *health {
	h := &health{settings: c.Health, server: s, base: o.Now(), logger: o.Logger, gauge: o.Metrics.upServers.WithLabelValues(c.Name, s.name)}
	h.gauge.Set(1)
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	if c.Health.Path != "" {
		h.checked.Go(func() { h.check(ctx) })
	}
	return h
}

// usable reports whether a request may be sent to the server.
func (h *health) usable() bool {
	if !h.down.Load() {
		return true
	}
	if h.settings.Path != "" {
		return false
	}
	at, now := h.tryAt.Load(), int64(time.Since(h.base))
	return now >= at && h.tryAt.CompareAndSwap(at, now+int64(h.settings.Pause))
}

// succeeded is told of every answer.
func (h *health) succeeded() {
	if h.fails.Load() == 0 {
		return
	}
	h.fails.Store(0)
	if h.settings.Path == "" {
		h.rise()
	}
}

func (h *health) rise() {
	if h.down.CompareAndSwap(true, false) {
		h.gauge.Set(1)
		h.logger.Info("an upstream server is up again", "server", h.server.name)
	}
}

// failed is told of every request that got no answer.
func (h *health) failed() {
	if h.fails.Add(1) < int64(h.settings.Fall) {
		return
	}
	h.tryAt.Store(int64(time.Since(h.base)) + int64(h.settings.Pause))
	if h.down.CompareAndSwap(false, true) {
		h.gauge.Set(0)
		h.logger.Warn("an upstream server is down", "server", h.server.name, "failures", h.settings.Fall)
	}
}

// check asks the server again and again.
func (h *health) check(ctx context.Context) {
	tick := time.NewTicker(time.Duration(h.settings.Every))
	defer tick.Stop()
	for {
		if err := h.ask(ctx); ctx.Err() != nil {
			return
		} else if err != nil {
			h.passed = 0
			h.failed()
		} else {
			h.pass()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// pass counts a check that went well.
func (h *health) pass() {
	h.passed++
	if !h.down.Load() {
		h.fails.Store(0)
		return
	}
	if h.passed >= h.settings.Rise {
		h.fails.Store(0)
		h.rise()
	}
}

func (h *health) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(h.settings.Timeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.scheme+"://"+h.server.authority+h.settings.Path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", "sluice-health")
	res, err := h.server.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	if res.StatusCode >= 400 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

func (h *health) close() {
	h.stop()
	h.checked.Wait()
}
