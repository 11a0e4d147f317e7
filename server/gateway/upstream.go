package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/server/config"
)

// upstream is a group of servers that all answer the same.
type upstream struct {
	settings config.Upstream
	trust    string // certificates that sign those of the servers, as the file has them
	servers  []*server
	next     *atomic.Uint64      // whose turn it is
	slots    *sluice.Concurrency // nil: no bound
	shape    *sluice.Limiter     // nil: requests leave as they come
	metrics  *upstreamMetrics
	logger   *seldom
}

// newUpstream makes a group, of the parts of the old one that need not change.
func newUpstream(c config.Upstream, old *upstream, o *Options) (*upstream, error) {
	u := &upstream{settings: c, metrics: o.Metrics.upstream(c.Name)}
	if old == nil {
		old = &upstream{next: new(atomic.Uint64), logger: &seldom{logger: o.Logger, upstream: c.Name, base: o.Now()}}
	}
	u.next, u.logger = old.next, old.logger
	if err := u.inherit(old); err != nil {
		return nil, err
	}
	trust, err := u.readCA()
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream %s: ca: %w", c.Name, err)
	}
	same := sameServers(c, old.settings) && u.trust == old.trust
	for _, text := range c.Servers {
		at := slices.IndexFunc(old.servers, func(s *server) bool { return s.name == text })
		if same && at >= 0 {
			u.servers = append(u.servers, old.servers[at])
			continue
		}
		s, err := newServer(text, c, trust, o)
		if err != nil {
			u.retire(old)
			return nil, err
		}
		u.servers = append(u.servers, s)
	}
	return u, nil
}

// inherit takes over what keeps a group from being overrun, and leaves its limits as they
// are: the old group may stay. What was spent stays spent.
func (u *upstream) inherit(old *upstream) error {
	c := &u.settings
	if c.Concurrency.Limit > 0 {
		if u.slots = old.slots; u.slots == nil {
			u.slots = sluice.NewConcurrency(int64(c.Concurrency.Limit))
		}
	}
	if c.Shape == (sluice.Limit{}) {
		return nil
	}
	if err := c.Shape.Validate(); err != nil {
		return fmt.Errorf("gateway: upstream %s: shape: %w", c.Name, err)
	}
	if u.shape = old.shape; u.shape == nil {
		u.shape = sluice.NewLimiter(c.Shape)
	}
	return nil
}

// bound puts the limits of the group in force.
func (u *upstream) bound() {
	if u.slots != nil {
		_ = u.slots.SetLimit(int64(u.settings.Concurrency.Limit)) // it is above zero
	}
	if u.shape != nil {
		_ = u.shape.SetLimit(u.settings.Shape) // inherit has checked it
	}
}

// sameServers reports whether servers can be used on that were made for other settings.
func sameServers(a, b config.Upstream) bool {
	return a.CA == b.CA && a.Idle == b.Idle && a.Timeouts == b.Timeouts && reflect.DeepEqual(a.Health, b.Health)
}

// readCA reads the file anew each time: what it holds may have changed, and then the
// connections that were made before are not used any more.
func (u *upstream) readCA() (*tls.Config, error) {
	file := u.settings.CA
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", file)
	}
	u.trust = string(text)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// enter lets a request in when it is its turn, and returns what to call when it is over.
func (u *upstream) enter(ctx context.Context) (leave func(), p *problem) {
	u.metrics.inFlight.Inc()
	leave = u.metrics.leave
	if u.shape != nil {
		if err := u.shape.Wait(ctx); err != nil {
			leave()
			return nil, u.refused(ctx, err)
		}
	}
	if u.slots == nil {
		return leave, nil
	}
	permit, ok := u.slots.Allow()
	if !ok {
		if u.settings.Concurrency.Wait == 0 {
			leave()
			return nil, u.refused(ctx, sluice.ErrLimited)
		}
		wait, cancel := context.WithTimeout(ctx, time.Duration(u.settings.Concurrency.Wait))
		var err error
		permit, err = u.slots.Wait(wait)
		cancel()
		if err != nil {
			leave()
			return nil, u.refused(ctx, err)
		}
	}
	return func() { permit.Release(); u.metrics.leave() }, nil
}

// refused is for a request whose turn does not come.
func (u *upstream) refused(ctx context.Context, err error) *problem {
	if ctx.Err() == nil || errors.Is(err, sluice.ErrLimited) {
		u.metrics.failed("busy")
	}
	return errBusy
}

// pick returns the server whose turn it is, of those that work and were not tried; nil if
// there is none.
func (u *upstream) pick(tried []*server) *server {
	first := u.next.Add(1)
	for i := range uint64(len(u.servers)) {
		s := u.servers[(first+i)%uint64(len(u.servers))]
		if (tried == nil || !slices.Contains(tried, s)) && s.health.usable() {
			return s
		}
	}
	return nil
}

// retire ends the servers that the next group, which may be nil, does not have.
func (u *upstream) retire(next *upstream) {
	for _, s := range u.servers {
		if next == nil || !slices.Contains(next.servers, s) {
			s.close()
		}
		if next == nil || !slices.ContainsFunc(next.servers, func(n *server) bool { return n.name == s.name }) {
			u.metrics.up.DeleteLabelValues(s.name)
		}
	}
}

// seldom logs failures of servers, at most one line per second of a group.
type seldom struct {
	logger   *slog.Logger
	upstream string
	base     time.Time
	next     atomic.Int64 // when the next line may be written; in nanoseconds since base
	skipped  atomic.Int64
}

func (l *seldom) log(server, kind string, err error) {
	now, next := int64(time.Since(l.base)), l.next.Load()
	if now < next || !l.next.CompareAndSwap(next, now+int64(time.Second)) {
		l.skipped.Add(1)
		return
	}
	l.logger.Warn("an upstream server failed", "upstream", l.upstream, "server", server, "kind", kind, "error", err, "skipped", l.skipped.Swap(0))
}
