package config

import (
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
)

// GatewaySection is the part of a rule file that makes the server a gateway.
const GatewaySection = "gateway"

// Gateway is the section "gateway" of a rule file: a reverse proxy that lets requests
// through to upstreams if the rules do. Without upstreams there is none.
type Gateway struct {
	Listen string `json:"listen"` // where clients connect
	TLS    Pair   `json:"tls"`    // without it, plain HTTP

	// Trusted are the networks of proxies in front, whose X-Forwarded-* and Forwarded are
	// believed and passed on. Nobody else's are.
	Trusted Networks `json:"trusted"`
	// UserHeader is the field in which a trusted proxy names the user, for rules with user
	// in their key. From others it is removed.
	UserHeader string `json:"user_header"`
	// AccessLog is a file that gets a line of JSON for every request, or stdout. A reload
	// opens it again, so that it can be rotated.
	AccessLog string `json:"access_log"`

	Limits    GatewayLimits   `json:"limits"`
	Timeouts  GatewayTimeouts `json:"timeouts"`
	Upstreams []Upstream      `json:"upstreams"`
	Routes    []Route         `json:"routes"`
}

// Pair names the files of a certificate and its key.
type Pair struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// GatewayLimits bound what a client may send.
type GatewayLimits struct {
	Body        Size `json:"body"`        // the longest body of a request; more gets 413
	Header      Size `json:"header"`      // the largest header; more gets 431
	Connections int  `json:"connections"` // how many at the same time
	MinRate     Size `json:"min_rate"`    // a body that comes slower than this per second is cut
}

// GatewayTimeouts bound how long a client may take.
type GatewayTimeouts struct {
	Header rule.Duration `json:"header"` // to send the header of a request
	Body   rule.Duration `json:"body"`   // before MinRate is asked for
	Write  rule.Duration `json:"write"`  // to take a part of an answer
	Idle   rule.Duration `json:"idle"`   // without a request
}

// Upstream is a group of servers that all answer the same.
type Upstream struct {
	Name    string   `json:"name"`
	Servers []string `json:"servers"` // http://, https:// or h2c:// (HTTP/2 without TLS), each with its port
	CA      string   `json:"ca"`      // file with the certificates that sign those of https servers; empty: those of the system

	RewriteHost bool `json:"rewrite_host"` // servers get their own name as Host, not the one that the client asked for
	Retries     *int `json:"retries"`      // how many further servers are tried where that is safe; 1 if not given
	Idle        int  `json:"idle"`         // connections per server that are kept for later; 256 if not given

	Health      Health           `json:"health"`
	Concurrency Concurrency      `json:"concurrency"`
	Shape       sluice.Limit     `json:"shape"` // requests leave at this rate: 200/s burst=50 max_wait=2s
	Timeouts    UpstreamTimeouts `json:"timeouts"`
}

// Health says when a server is not asked for a while.
type Health struct {
	Path    string        `json:"path"`    // is asked for every Every; empty: servers are judged by their answers to clients only
	Every   rule.Duration `json:"every"`   // 2s if not given
	Timeout rule.Duration `json:"timeout"` // of one such request; 1s if not given
	Fall    int           `json:"fall"`    // so many failures in a row, of either kind, and it is down; 3 if not given
	Rise    int           `json:"rise"`    // so many successes in a row and it is up; 2 if not given
	Pause   rule.Duration `json:"pause"`   // without Path: after this a server that is down gets a request to try; 1s if not given
}

// Concurrency bounds how many requests a group has at the same time.
type Concurrency struct {
	Limit int           `json:"limit"` // 0: no bound
	Wait  rule.Duration `json:"wait"`  // how long a request may wait for its turn
}

// UpstreamTimeouts bound how long a server may take.
type UpstreamTimeouts struct {
	Connect rule.Duration `json:"connect"` // 2s if not given
	Answer  rule.Duration `json:"answer"`  // until the header of its answer is there; 1m if not given
	Idle    rule.Duration `json:"idle"`    // between two parts of an answer, or of a WebSocket; 5m if not given
}

// Route sends requests to an upstream. The most exact host wins, then the longest prefix.
type Route struct {
	Hosts    []string `json:"hosts"`    // shop.example.com, *.example.com; none: all
	Prefix   string   `json:"prefix"`   // of the path, by whole segments; empty: all
	Upstream string   `json:"upstream"` // its name
	Strip    bool     `json:"strip"`    // the prefix is cut off before the request goes on
}

// DefaultGateway is where the gateway listens if nothing is set.
const DefaultGateway = "127.0.0.1:8000"

// GatewayDefaults returns what holds if nothing is set.
func GatewayDefaults() Gateway {
	return Gateway{
		Listen: DefaultGateway,
		Limits: GatewayLimits{Body: 1 << 30, Header: 64 << 10, Connections: 16384, MinRate: 1 << 10},
		Timeouts: GatewayTimeouts{
			Header: rule.Duration(5 * time.Second), Body: rule.Duration(8 * time.Second),
			Write: rule.Duration(30 * time.Second), Idle: rule.Duration(time.Minute),
		},
	}
}

// On reports whether there is a gateway.
func (g *Gateway) On() bool { return len(g.Upstreams) > 0 }

// fill puts defaults where a list left room for them.
func (g *Gateway) fill() {
	for i := range g.Upstreams {
		u := &g.Upstreams[i]
		if u.Retries == nil {
			u.Retries = new(int)
			*u.Retries = 1
		}
		orElse(&u.Idle, 256)
		orElse(&u.Health.Every, rule.Duration(2*time.Second))
		orElse(&u.Health.Timeout, rule.Duration(time.Second))
		orElse(&u.Health.Fall, 3)
		orElse(&u.Health.Rise, 2)
		orElse(&u.Health.Pause, rule.Duration(time.Second))
		orElse(&u.Timeouts.Connect, rule.Duration(2*time.Second))
		orElse(&u.Timeouts.Answer, rule.Duration(time.Minute))
		orElse(&u.Timeouts.Idle, rule.Duration(5*time.Minute))
		if u.Shape != (sluice.Limit{}) {
			u.Shape.Algorithm = sluice.LeakyBucket
		}
	}
	if len(g.Routes) == 0 && len(g.Upstreams) == 1 {
		g.Routes = []Route{{Upstream: g.Upstreams[0].Name}}
	}
}

func orElse[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// gateway reads the section, with what the command line says over it.
func (s Sources) gateway(read *rulefile.Result) (Gateway, rulefile.Problems) {
	g := read.Section(GatewaySection).(Gateway)
	if len(s.Upstreams) > 0 {
		g.Upstreams = []Upstream{{Name: "default", Servers: s.Upstreams}}
		g.Routes = nil
	}
	if s.GatewayListen != "" {
		g.Listen = s.GatewayListen
	}
	if !g.On() {
		if len(g.Routes) > 0 {
			return g, rulefile.Problems{read.At(GatewaySection, "routes", "there are routes, but no upstreams", "add upstreams: [{name: app, servers: [http://127.0.0.1:9000]}]")}
		}
		return g, nil
	}
	g.fill()
	c := gatewayCheck{Gateway: &g, sources: s, read: read}
	c.all()
	return g, c.problems
}
