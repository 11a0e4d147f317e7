package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/server/config"
)

// Options are what a gateway works with.
type Options struct {
	Engine  *engine.Engine
	Metrics *Metrics
	Now     func() time.Time
	Logger  *slog.Logger
	TLS     *tls.Config // nil: plain HTTP
	// Known is called with every request that the rules let pass, and may be nil.
	Known func(*http.Request)
	// ConnContext is that of http.Server, and may be nil.
	ConnContext func(context.Context, net.Conn) context.Context
}

// Gateway is a reverse proxy. Make one with New and end it with Shutdown.
type Gateway struct {
	options Options
	config  config.Gateway // what cannot change while it runs
	server  *http.Server
	rules   http.Handler // decides, then calls forward
	log     *accessLog   // nil: there is none
	trusted []netip.Prefix
	client  func(*http.Request) netip.Addr
	peer    func(*http.Request) netip.Addr

	table    atomic.Pointer[table]
	applying sync.Mutex // one change at a time
	closing  sync.Once
	tunnels  tunnels
	pool     sync.Pool // of *exchange

	atOnce    atomic.Pointer[atOnce]
	answering atomic.Int64 // requests that are decided ahead of the server
	ending    atomic.Bool  // there will be no more of them
}

// New returns a gateway for settings that were checked when they were loaded.
func New(c config.Gateway, o Options) (*Gateway, error) {
	trusted, err := c.Trusted.Prefixes()
	if err != nil {
		return nil, fmt.Errorf("gateway.trusted: %w", err)
	}
	g := &Gateway{options: o, config: c, trusted: trusted, peer: httplimit.ClientAddress()}
	g.client = g.peer
	rules := []httplimit.RulesOption{httplimit.Decided(decided), httplimit.User(g.user)}
	if len(trusted) > 0 {
		behind := httplimit.TrustProxies(trusted...)
		g.client = httplimit.ClientAddress(behind)
		rules = append(rules, behind)
	}
	g.rules = httplimit.Rules(o.Engine, rules...)(http.HandlerFunc(g.forward))
	g.pool.New = func() any { return new(exchange) }
	if g.log, err = openLog(c.AccessLog, o.Logger); err != nil {
		return nil, err
	}
	if err := g.Apply(c); err != nil {
		return nil, err
	}
	g.server = g.newServer()
	return g, nil
}

// Apply puts routes and upstreams in force, and opens the access log again. Servers that
// stay keep their connections, their health, and what was spent. The rest of the settings
// holds from the next start on. After an error all is as before.
func (g *Gateway) Apply(c config.Gateway) error {
	return g.ApplyWith(c, func() error { return nil })
}

// ApplyWith is Apply together with another change: whatever of the gateway can fail is done
// first, then the other change, and if that too is without error, the rest, which cannot fail.
func (g *Gateway) ApplyWith(c config.Gateway, other func() error) error {
	g.applying.Lock()
	defer g.applying.Unlock()
	before := g.table.Load()
	after, err := newTable(c, before, &g.options)
	if err != nil {
		return err
	}
	if err := other(); err != nil {
		after.retire(before)
		return err
	}
	after.bound()
	g.table.Store(after)
	if before != nil {
		before.retire(after)
		g.log.reopen()
	}
	return nil
}

// trusts reports whether a proxy of ours is at the other end of the connection.
func (g *Gateway) trusts(peer netip.Addr) bool {
	return len(g.trusted) > 0 && slices.ContainsFunc(g.trusted, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// user returns who sent a request, if a trusted proxy says so.
func (g *Gateway) user(r *http.Request) string {
	if g.config.UserHeader == "" {
		return ""
	}
	x := exchangeOf(r)
	if !x.trusted {
		r.Header.Del(g.config.UserHeader)
		return ""
	}
	x.user = r.Header.Get(g.config.UserHeader)
	return x.user
}
