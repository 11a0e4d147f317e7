package app

import (
	"time"

	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/resp"
)

// openRESP opens the door for Redis clients, if there is to be one.
func (a *App) openRESP(tokens []string) error {
	c := a.config.RESP
	if c.Listen == "" {
		return nil
	}
	options := resp.Options{
		Engine: a.engine, Store: a.store,
		Tokens: hashTokens(tokens), Exposed: !config.Loopback(c.Listen),
		Connections: a.connectionsOf("resp.connections", c.Connections), Idle: time.Duration(c.Idle), Places: a.places,
		Note: a.Note, Observer: a.metrics.Door("resp"), Now: now, Version: Build().Version, Logger: a.logger,
	}
	if a.certificate != nil {
		options.TLS = a.certificate.config()
	}
	if a.config.Redis != "" {
		options.Parallel = parallel
	}
	a.resp = resp.New(options)
	return a.addDoor("resp", c.Listen, a.resp)
}
