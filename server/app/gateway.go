package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/gateway"
)

// openGateway opens the door through which requests go on to upstreams, if there is to
// be one.
func (a *App) openGateway(c config.Gateway) (err error) {
	if !c.On() {
		return nil
	}
	var secure *tls.Config
	if c.TLS.Cert != "" {
		if a.gatewayCertificate, err = newCertificate(c.TLS.Cert, c.TLS.Key, a.logger); err != nil {
			return fmt.Errorf("gateway.tls: %w", err)
		}
		secure = a.gatewayCertificate.config()
	}
	metrics := gateway.NewMetrics(a.metrics.Registry())
	if a.gateway, err = gateway.New(c, gateway.Options{
		Engine: a.engine, Metrics: metrics, Now: now, Logger: a.logger,
		TLS: secure, Known: keepConn, ConnContext: withConn,
	}); err != nil {
		return err
	}
	a.onEnd("gateway", a.gateway.Shutdown)
	return a.addDoor("gateway", c.Listen, &gatewayDoor{a, c, metrics})
}

// gatewayDoor is a gateway behind a listener with so many places: who sends nothing, or
// slowly, has to give way.
type gatewayDoor struct {
	app      *App
	settings config.Gateway
	metrics  *gateway.Metrics
}

// Serve implements door.
func (d *gatewayDoor) Serve(l net.Listener) error {
	places := d.app.connectionsOf("gateway.limits.connections", d.settings.Limits.Connections)
	limited := limitListener(l, places)
	d.metrics.Connections(limited.open, limited.dropped.Load, int64(places))
	return d.app.gateway.Serve(limited)
}

// Shutdown implements door.
func (d *gatewayDoor) Shutdown(ctx context.Context) error { return d.app.gateway.Shutdown(ctx) }

// applyWithGateway puts rules in force, by swap, and with them routes and upstreams that were
// read again: both or none. It tells what else has changed and needs a restart.
func (a *App) applyWithGateway(before, after *config.Gateway, swap func() error) ([]string, error) {
	switch {
	case a.gateway == nil && !after.On():
		return nil, swap()
	case a.gateway == nil:
		return []string{"gateway: there is one now: restart to open it"}, swap()
	case !after.On():
		return []string{"gateway: there is none any more: restart to close it"}, swap()
	}
	if a.gatewayCertificate != nil {
		a.gatewayCertificate.reload()
	}
	if err := a.gateway.ApplyWith(*after, swap); err != nil {
		return nil, err
	}
	return gatewayDiff(before, after), nil
}
