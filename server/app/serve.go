package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/sluice-limiter/sluice/server/api"
)

// openDoors opens the addresses and makes what answers there.
func (a *App) openDoors() (err error) {
	if a.config.TLS.Cert != "" {
		if a.certificate, err = newCertificate(a.config.TLS.Cert, a.config.TLS.Key, a.logger); err != nil {
			return fmt.Errorf("tls: %w", err)
		}
	}
	if a.listener, err = a.listen("listen", a.config.Listen); err != nil {
		return err
	}
	a.listener = a.limit(a.listener)
	if a.config.Admin != "" {
		if a.admin, err = a.listen("admin", a.config.Admin); err != nil {
			return err
		}
	}
	if a.forwardAuth, err = a.newForwardAuth(); err != nil {
		return fmt.Errorf("server.forward_auth.trusted: %w", err)
	}
	loaded, _ := a.rules.current()
	a.setHandler(loaded.Tokens)
	if err := a.openRESP(loaded.Tokens); err != nil {
		return err
	}
	if err := a.openRLS(); err != nil {
		return err
	}
	a.countConnections()
	return a.openGateway(loaded.Gateway) // a further door is opened here, by a.addDoor
}

func (a *App) listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("server.%s: %w: take another address, or end who has it", setting, err)
	}
	a.onEnd(setting, func(context.Context) error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // the server has closed it already
			return err
		}
		return nil
	})
	return l, nil
}

// setHandler makes the API anew, for these tokens. Streams of events that were opened with
// the old ones end.
func (a *App) setHandler(tokens []string) {
	done := make(chan struct{})
	hashes := hashTokens(tokens)
	options := api.Options{
		Tokens: hashes, Metrics: a.Metrics(), MaxBody: int64(a.config.Limits.Body), Logger: a.logger, Done: done, Tracer: a.tracer,
		Places: a.places, Authorized: keepConn,
	}
	if a.config.Redis != "" {
		options.Parallel = parallel
	}
	h := a.withEnvoy(api.New(a, options), hashes)
	a.handler.Store(&h)
	if a.resp != nil {
		a.resp.SetTokens(hashes)
	}
	if a.replaced != nil {
		close(a.replaced)
	}
	a.replaced = done
}

func hashTokens(tokens []string) [][sha256.Size]byte {
	hashes := make([][sha256.Size]byte, 0, len(tokens))
	for _, t := range tokens {
		hashes = append(hashes, api.HashToken(t))
	}
	return hashes
}

// parallel is how many requests of a batch wait for Redis at the same time: enough to
// ride in few calls.
const parallel = 32

// serving are the HTTP servers that run.
type serving struct {
	main   *http.Server
	admin  *http.Server // nil if there are no profiles
	failed chan error
}

// idle is how long a connection may stay without a request: each takes one of the places
// of limits.connections.
const idle = 30 * time.Second

// server is what answers for the API.
func (a *App) server() *http.Server {
	s := api.NewServer(a.guard())
	s.IdleTimeout, s.ConnContext, s.ConnState = idle, withConn, a.watchConn
	return s
}

// serve starts to answer.
func (a *App) serve() *serving {
	s := &serving{failed: make(chan error, 2+len(a.doors))}
	main := a.server()
	s.main = main
	if a.certificate != nil {
		main.TLSConfig = a.certificate.config()
		s.start(main, a.logger, func() error { return main.ServeTLS(a.listener, "", "") })
	} else {
		s.start(main, a.logger, func() error { return main.Serve(a.listener) })
	}
	if a.admin != nil {
		s.admin = &http.Server{Handler: profiles(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: idle, MaxHeaderBytes: 32 << 10}
		s.start(s.admin, a.logger, func() error { return s.admin.Serve(a.admin) })
	}
	a.serveDoors(s.failed)
	return s
}

func (s *serving) start(server *http.Server, logger *slog.Logger, serve func() error) {
	server.ErrorLog = slog.NewLogLogger(logger.Handler(), slog.LevelWarn)
	go func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
}

// ErrCutOff means that the time for a shutdown was over before all requests were.
var ErrCutOff = errors.New("requests were cut off: the time for the shutdown was over")

// shutdown accepts nothing more and waits for what is under way. Nobody waits for a
// profile, which can take minutes.
func (s *serving) shutdown(ctx context.Context, logger *slog.Logger) error {
	if s.admin != nil {
		_ = s.admin.Close()
	}
	if err := s.main.Shutdown(ctx); err != nil {
		logger.Warn("requests are cut off", "error", err)
		_ = s.main.Close()
		return ErrCutOff
	}
	return nil
}

// profiles answers for the admin address.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
