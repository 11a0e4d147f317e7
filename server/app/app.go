// Package app is the server as one value: it puts store, engine, rules, metrics and
// HTTP together, runs them, and ends them in order. It holds no package-level state, so
// that tests can start as many as they like.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/audit"
	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/gateway"
	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/server/resp"
	"github.com/sluice-limiter/sluice/store"
)

// App is a server. Make one with New, let it work with Run.
type App struct {
	config  config.Config
	sources config.Sources
	secret  []byte // by which keys are hashed; nil if there is none
	logger  *slog.Logger
	notify  notifier

	engine  *engine.Engine
	store   store.Store // of the budgets that the fleet shares
	metrics *metrics.Metrics
	audit   *audit.Log
	tracer  trace.Tracer // nil: there are no spans
	keys    keyText
	record  *record // of recent traffic; nil if none is kept
	rules   rules

	listener, admin net.Listener     // admin may be nil
	doors           []opened         // beside the API
	resp            *resp.Door       // one of them; nil if it is not open
	gateway         *gateway.Gateway // another; nil if it is not open
	certificate     *certificate     // nil without TLS
	places          *api.Places      // in flight
	limits          []*limited       // listeners whose connections limits.connections bounds

	gatewayCertificate *certificate                 // nil without TLS there
	handler            atomic.Pointer[http.Handler] // replaced when tokens change
	forwardAuth        http.Handler                 // answers proxies, beside the API
	replaced           chan struct{}                // closed when it is; guarded by rules.changing

	closers  []closer // what has to be ended, in the order in which it was begun
	started  atomic.Bool
	stopping atomic.Bool
	stop     context.CancelFunc
	stopped  context.Context
	done     chan struct{} // closed when all is over
	close    sync.Once
}

// closer ends one part.
type closer struct {
	what string
	end  func(context.Context) error
}

var _ api.Backend = (*App)(nil)

// New makes a server of what the sources hold. It opens the addresses, so that nothing
// can go wrong later that could be known now. End it with Run and its context, or with
// Stop. A Redis that cannot be reached is no error: what the rules say for that decides
// until it is there.
func New(ctx context.Context, sources config.Sources, loaded *config.Loaded, logger *slog.Logger) (*App, error) {
	a := &App{
		config: loaded.Config, sources: sources, secret: loaded.Secret, logger: logger,
		notify:  newNotifier(sources.Env),
		metrics: metrics.New(Build()),
		keys:    newKeyText(loaded.Config.Log.Keys, loaded.Secret),
		done:    make(chan struct{}),
	}
	a.places = api.NewPlaces(int64(loaded.Config.Limits.InFlight), a.metrics.Shed)
	a.stopped, a.stop = context.WithCancel(context.Background())
	if err := a.open(ctx, loaded); err != nil {
		_ = a.shutdownDoors(ctx) // some have begun to work before they serve
		a.end(ctx)
		return nil, err
	}
	return a, nil
}

// open starts all parts, the lowest first.
func (a *App) open(ctx context.Context, loaded *config.Loaded) (err error) {
	warnOfMemory(a.logger, int64(a.config.Memory)+2*int64(a.config.InstanceMemory)+int64(a.config.Record.Memory))
	if a.audit, err = audit.Open(a.config.Audit, a.logger); err != nil {
		return err
	}
	if err := a.openTracing(ctx); err != nil {
		return err
	}
	store, instance, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	a.store = store
	if err := a.openEngine(loaded, store, instance); err != nil {
		return err
	}
	a.metrics.Conditions(loaded.Conditions)
	a.metrics.InFlight(a.places.Taken, a.places.Limit)
	a.first(loaded)
	return a.openDoors()
}

// Run serves until ctx ends or Stop is called, and returns when everything is over:
// requests that were under way are finished, leases given back, the group left. It
// returns nil if no request had to be cut off.
func (a *App) Run(ctx context.Context) error {
	if !a.started.CompareAndSwap(false, true) {
		return errors.New("app: it has been run or stopped before")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.stopped, cancel)()
	var background sync.WaitGroup
	background.Go(func() { a.watch(ctx) })
	background.Go(func() { a.sample(ctx) })
	served := a.serve()
	a.logger.Info("serving", "address", a.Addr(), "tls", a.certificate != nil, "rules", a.rules.version().Source, "store", a.storeName())
	a.notify.ready()

	var err error
	select {
	case <-ctx.Done():
	case err = <-served.failed:
		a.logger.Error("serving failed", "error", err)
	}
	cancel()
	a.stopping.Store(true)
	a.notify.stopping()
	end, endNow := context.WithTimeout(context.Background(), time.Duration(a.config.Shutdown))
	defer endNow()
	a.audit.Close() // who reads events would stay for ever
	doors := make(chan error, 1)
	go func() { doors <- a.shutdownDoors(end) }()
	err = errors.Join(err, served.shutdown(end, a.logger), <-doors)
	background.Wait()
	// What is left has time of its own: requests may have used up all of theirs.
	last, lastNow := context.WithTimeout(context.Background(), partingTime)
	defer lastNow()
	a.end(last)
	a.logger.Info("ended")
	return err
}

// partingTime is for giving back leases and leaving the group.
const partingTime = 3 * time.Second

// Stop ends the server and returns when everything is over.
func (a *App) Stop() {
	a.stop()
	if !a.started.Swap(true) { // Run was never called, and never will be
		_ = a.shutdownDoors(context.Background()) // nothing is under way there
		a.end(context.Background())
	}
	<-a.done
}

// end ends all parts, the highest first. What cannot be ended in order, such as leases
// that cannot be given back because Redis is down, is no reason not to end.
func (a *App) end(ctx context.Context) {
	a.close.Do(func() {
		a.stopping.Store(true)
		for i := len(a.closers) - 1; i >= 0; i-- {
			if err := a.closers[i].end(ctx); err != nil {
				a.logger.Warn("not ended in order", "part", a.closers[i].what, "error", err)
			}
		}
		a.stop()
		close(a.done)
	})
}

// onEnd has something ended with the server.
func (a *App) onEnd(what string, end func(context.Context) error) {
	a.closers = append(a.closers, closer{what, end})
}

// Addr returns the address of the API.
func (a *App) Addr() net.Addr { return a.listener.Addr() }

// AdminAddr returns the address of the profiles, nil if there are none.
func (a *App) AdminAddr() net.Addr {
	if a.admin == nil {
		return nil
	}
	return a.admin.Addr()
}

// sampling is how often the load is looked at.
const sampling = 5 * time.Second

// sample keeps the figures for autoscalers.
func (a *App) sample(ctx context.Context) {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		a.metrics.Load().Sample(now(), a.engine.Set(), a.engine.Stats())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
