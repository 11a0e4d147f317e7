package redis

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	sluicegoredis "github.com/sluice-limiter/sluice/contrib/goredis"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/e2e/faultproxy"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// scripter is what both adapters are.
type scripter interface {
	EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error)
	Eval(ctx context.Context, script string, keys, args []string) ([]int64, error)
}

// target is where a client connects to.
type target struct {
	addrs     []string
	cluster   bool
	sentinels bool
	user      string // with the password secret
	proxies   map[string]*faultproxy.Proxy
	timeout   time.Duration // of a silent server; 0 is the default
}

func standalone(s *redistest.Server) target { return target{addrs: []string{s.Addr()}} }

func cluster(c *redistest.Cluster) target { return target{addrs: c.Addrs(), cluster: true} }

func sentinels(s *redistest.Sentinels) target { return target{addrs: s.Addrs(), sentinels: true} }

// throughProxies puts a proxy before each of the servers. Clients go on to know
// the servers by their own addresses.
func (g target) throughProxies(t testing.TB, servers ...*redistest.Server) target {
	t.Helper()
	g.proxies = map[string]*faultproxy.Proxy{}
	for _, s := range servers {
		g.proxies[s.Addr()] = faultproxy.Start(t, s.Addr())
	}
	return g
}

// set changes the faults of all proxies.
func (g target) set(f faultproxy.Faults) {
	for _, p := range g.proxies {
		p.Set(f)
	}
}

func (g target) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if p := g.proxies[addr]; p != nil {
		addr = p.Addr()
	}
	d := net.Dialer{Timeout: time.Second}
	return d.DialContext(ctx, network, addr)
}

// clients are the libraries that sluice has adapters for.
var clients = []struct {
	name string
	open func(t testing.TB, g target) scripter
}{
	{"rueidis", openRueidis},
	{"go-redis", openOurGoredis},
}

func openRueidis(t testing.TB, g target) scripter {
	t.Helper()
	option := rueidis.ClientOption{
		InitAddress: g.addrs,
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return g.dial(ctx, "tcp", addr)
		},
		ConnWriteTimeout:  g.timeout,
		ForceSingleClient: !g.cluster && !g.sentinels,
	}
	if g.user != "" {
		option.Username, option.Password = g.user, "secret"
	}
	if g.sentinels {
		option.Sentinel.MasterSet = redistest.MasterName
	}
	s, err := sluicerueidis.Open(option)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func openOurGoredis(t testing.TB, g target) scripter {
	t.Helper()
	s, err := sluicegoredis.New(openGoredis(t, g))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openGoredis makes a client with the library's own settings, by which it sends
// commands several times.
func openGoredis(t testing.TB, g target) goredis.UniversalClient {
	t.Helper()
	option := &goredis.UniversalOptions{
		Addrs: g.addrs, Dialer: g.dial, ReadTimeout: g.timeout, ContextTimeoutEnabled: true,
		IsClusterMode: g.cluster,
	}
	if g.user != "" {
		option.Username, option.Password = g.user, "secret"
	}
	if g.sentinels {
		option.MasterName = redistest.MasterName
	}
	c := goredis.NewUniversalClient(option)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}
