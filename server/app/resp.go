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
		Connections: a.respConnections(), Idle: time.Duration(c.Idle), Places: a.places,
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

// respConnections is how many Redis clients there may be: half of all files that the
// process may have open are for everything else.
func (a *App) respConnections() int {
	wanted, files := a.config.RESP.Connections, descriptors()
	if files == 0 || int64(wanted) <= files/2 {
		return wanted
	}
	a.logger.Warn("there will be fewer Redis clients than resp.connections: raise how many files the process may have open (ulimit -n, LimitNOFILE)",
		"limit", wanted, "connections", files/2, "files", files)
	return int(files / 2)
}
