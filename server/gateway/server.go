package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// newServer returns a server with limits on headers and time. Bodies and answers have no
// limit as a whole, so that they can be of any length: see exchange.
func (g *Gateway) newServer() *http.Server {
	c := &g.config
	s := &http.Server{
		Handler:           g,
		ReadHeaderTimeout: time.Duration(c.Timeouts.Header),
		WriteTimeout:      time.Duration(c.Timeouts.Write), // of the first part; exchange.extend gives more
		IdleTimeout:       time.Duration(c.Timeouts.Idle),
		MaxHeaderBytes:    int(c.Limits.Header),
		TLSConfig:         g.options.TLS,
		ConnContext:       g.withConn,
		ConnState:         g.changed,
		ErrorLog:          slog.NewLogLogger(g.options.Logger.Handler(), slog.LevelDebug), // mostly what clients do wrong

		DisableGeneralOptionsHandler: true, // rules are about OPTIONS * too
		Protocols:                    new(http.Protocols),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 250,
			SendPingTimeout:      15 * time.Second,
			PingTimeout:          10 * time.Second,
			WriteByteTimeout:     time.Duration(c.Timeouts.Write),
		},
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

// Serve answers on l until Shutdown.
func (g *Gateway) Serve(l net.Listener) error {
	l = listener{l, g}
	if g.options.TLS != nil {
		return g.server.ServeTLS(l, "", "")
	}
	return g.server.Serve(l)
}

// Shutdown accepts nothing more and waits for what is under way, WebSockets included. If
// ctx ends before, it cuts off the rest and returns its error.
func (g *Gateway) Shutdown(ctx context.Context) error {
	g.ending.Store(true)
	g.settle(ctx)
	err := errors.Join(g.server.Shutdown(ctx), g.tunnels.wait(ctx))
	if err != nil {
		_ = g.server.Close()
		g.tunnels.cut()
	}
	g.closing.Do(func() {
		g.applying.Lock()
		defer g.applying.Unlock()
		g.table.Load().close()
		g.log.close()
	})
	return err
}

// settle waits for what is decided ahead of the server, to whom those connections are idle:
// it would close them. Nobody waits for a client that does not take its answer: meanwhile
// others would be accepted, who had no time left then.
func (g *Gateway) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aheadFor)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for g.answering.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
