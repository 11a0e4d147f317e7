package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/server/rls"
	"github.com/sluice-limiter/sluice/store"
)

// envoyDoor is the door for Envoy, over gRPC and over HTTP.
type envoyDoor struct {
	*rls.Server
	app  *App
	json http.Handler
}

// openRLS opens the door for Envoy, if there is to be one.
func (a *App) openRLS() error {
	address := a.config.GRPCAddress()
	if address == "" {
		return nil
	}
	options, err := a.rlsServerOptions()
	if err != nil {
		return err
	}
	service := rls.New(a.rlsOptions())
	d := &envoyDoor{Server: rls.NewServer(service, options), app: a, json: service.JSON(int64(a.config.Limits.Body))}
	if a.config.Envoy.Config != "" {
		a.watchDescriptors()
	}
	if err := a.addDoor("grpc", address, d); err != nil {
		return err
	}
	opened := &a.doors[len(a.doors)-1]
	opened.listener = grpcListener{a.limit(opened.listener)}
	return nil
}

func (a *App) rlsOptions() rls.Options {
	c, began := &a.config, now()
	o := rls.Options{
		Engine: a.engine, Tree: a.tree, Overrides: func() (store.Store, error) { return a.store, nil },
		Zone: c.Envoy.Zone, Now: now, Metadata: c.GRPC.Metadata, Quota: c.Envoy.QuotaMode, LateCosts: c.GRPC.LateCosts,
		Places: a.places, Observe: a.metrics.Door("grpc").Observe, Clock: func() time.Duration { return time.Since(began) },
	}
	if names := c.GRPC.HeaderNames(); names != nil {
		o.Headers = rls.Headers{Limit: names[0], Remaining: names[1], Reset: names[2]}
	}
	return o
}

// tree returns the descriptors in force.
func (a *App) tree() *envoy.Tree {
	loaded, _ := a.rules.current()
	return loaded.Envoy
}

// rlsServerOptions says who may ask: whoever reaches it, whoever has a certificate, or
// whoever has a token, if there are any.
func (a *App) rlsServerOptions() (rls.ServerOptions, error) {
	c := &a.config
	o := rls.ServerOptions{MaxMessage: int(c.Limits.Body), MaxStreams: uint32(min(c.Limits.InFlight, math.MaxInt32)), Remote: c.Redis != "", Known: keepGRPC}
	if c.GRPC.Tokens() {
		o.Tokens = tokens{a}
	}
	if a.certificate != nil {
		o.TLS = a.certificate.config()
	}
	if c.GRPC.ClientCA != "" {
		pem, err := os.ReadFile(c.GRPC.ClientCA)
		if err != nil {
			return o, fmt.Errorf("server.grpc.client_ca: %w", err)
		}
		o.TLS.ClientCAs, o.TLS.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !o.TLS.ClientCAs.AppendCertsFromPEM(pem) {
			return o, fmt.Errorf("server.grpc.client_ca: %s: no certificate in it: it has to be in PEM form", c.GRPC.ClientCA)
		}
	}
	return o, nil
}

// tokens are those in force.
type tokens struct{ app *App }

// Needed implements rls.Tokens.
func (t tokens) Needed() bool {
	loaded, _ := t.app.rules.current()
	return len(loaded.Tokens) > 0
}

// Fits implements rls.Tokens.
func (t tokens) Fits(token string) bool {
	loaded, _ := t.app.rules.current()
	return api.Fits(hashTokens(loaded.Tokens), token)
}

// lookEvery is how often it is looked whether the files changed. Links, network drives
// and ConfigMaps are all the same to that.
const lookEvery = time.Second

// watchDescriptors reloads when the files change, until the server ends.
func (a *App) watchDescriptors() {
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for tried := ""; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			stamp := envoy.Stamp(a.config.Envoy.Config)
			if loaded, _ := a.rules.current(); stamp != loaded.EnvoyStamp && stamp != tried {
				tried = stamp
				_, _ = a.Reload(ctx, fromFile) // logged and audited there
			}
		}
	})
	a.onEnd("watch of descriptors", func(context.Context) error {
		stop()
		watching.Wait()
		return nil
	})
}

// withEnvoy answers, beside the API, what envoyproxy/ratelimit does over HTTP, if its
// service is open here. Who may ask the API may ask it.
func (a *App) withEnvoy(next http.Handler, tokens [][sha256.Size]byte) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/json" && r.URL.Path != "/healthcheck" {
			next.ServeHTTP(w, r)
			return
		}
		d := a.envoyDoor()
		switch {
		case d == nil:
			next.ServeHTTP(w, r)
		case r.URL.Path == "/healthcheck":
			d.healthcheck(w)
		case origin.Check(r) != nil:
			http.Error(w, "pages of other sites may not ask", http.StatusForbidden)
		case !api.MayAsk(r, tokens):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
		default:
			keepConn(r)
			d.json.ServeHTTP(w, r)
		}
	})
}

// envoyDoor returns the door, nil if it is not open.
func (a *App) envoyDoor() *envoyDoor {
	for _, o := range a.doors {
		if d, ok := o.door.(*envoyDoor); ok {
			return d
		}
	}
	return nil
}

func (d *envoyDoor) healthcheck(w http.ResponseWriter) {
	if err := d.app.Ready(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("OK"))
}
