package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/server/config"
)

// gateway loads a file with this section.
func gateway(t *testing.T, section string, change func(*config.Sources)) (*config.Loaded, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(section+"\nrules: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := config.Sources{Path: file}
	if change != nil {
		change(&s)
	}
	return s.Load()
}

func TestGatewayIsOffWithoutUpstreams(t *testing.T) {
	l, err := gateway(t, "", nil)
	if err != nil || l.Gateway.On() {
		t.Fatalf("%+v, %v", l, err)
	}
}

func TestGatewayDefaults(t *testing.T) {
	l, err := gateway(t, "gateway: {upstreams: [{name: app, servers: ['http://127.0.0.1:9000'], shape: 50/s burst=10}]}", nil)
	if err != nil {
		t.Fatal(err)
	}
	g := l.Gateway
	u := g.Upstreams[0]
	if g.Listen != "127.0.0.1:8000" || len(g.Routes) != 1 || g.Routes[0].Upstream != "app" || *u.Retries != 1 || u.Health.Fall != 3 ||
		u.Shape.Algorithm != sluice.LeakyBucket || u.Timeouts.Answer == 0 {
		t.Errorf("%+v", g)
	}
}

func TestGatewayFromTheCommandLine(t *testing.T) {
	l, err := gateway(t, "gateway: {routes: [{prefix: /api, upstream: app}], upstreams: [{name: app, servers: ['http://127.0.0.1:9000']}]}", func(s *config.Sources) {
		s.Upstreams, s.GatewayListen = []string{"http://127.0.0.1:1", "http://127.0.0.1:2"}, "127.0.0.1:7"
	})
	if err != nil {
		t.Fatal(err)
	}
	if g := l.Gateway; g.Listen != "127.0.0.1:7" || len(g.Upstreams) != 1 || len(g.Upstreams[0].Servers) != 2 || g.Routes[0].Prefix != "" {
		t.Errorf("%+v", g)
	}
	if _, err := gateway(t, "", func(s *config.Sources) { s.Upstreams = []string{"127.0.0.1:9000"} }); err == nil || !strings.Contains(err.Error(), "--upstream") {
		t.Errorf("error %v", err)
	}
}

func TestGatewayProblems(t *testing.T) {
	const good = "name: app, servers: ['http://127.0.0.1:9000']"
	for _, c := range []struct{ section, place, reason string }{
		{"{routes: [{upstream: app}]}", ":1:", "no upstreams"},
		{"{listen: nowhere, upstreams: [{" + good + "}]}", ":1:", "no address"},
		{"{tls: {cert: a.pem}, upstreams: [{" + good + "}]}", ":1:", "needs a key"},
		{"{trusted: [0.0.0.0/0], upstreams: [{" + good + "}]}", ":1:", "everybody"},
		{"{user_header: X-User, upstreams: [{" + good + "}]}", ":1:", "nobody is trusted"},
		{"{trusted: [10.0.0.1], user_header: X-Forwarded-For, upstreams: [{" + good + "}]}", ":1:", "no name"},
		{"{limits: {header: 1B}, upstreams: [{" + good + "}]}", ":1:", "out of range"},
		{"{timeouts: {header: 0s}, upstreams: [{" + good + "}]}", ":1:", "out of range"},
		{"{upstreams: [{name: app}]}", ":1:", "no servers"},
		{"{upstreams: [{name: app, servers: ['ftp://x']}]}", ":1:", "no address of a server"},
		{"{upstreams: [{name: app, servers: ['http://x/path']}]}", ":1:", "only scheme, host and port"},
		{"{upstreams: [{name: app, servers: ['http://x', 'http://x']}]}", ":1:", "twice"},
		{"{upstreams: [{" + good + "}, {" + good + "}]}", ":1:", "name of its own"},
		{"{upstreams: [{" + good + ", retries: 11}]}", ":1:", "out of range"},
		{"{upstreams: [{" + good + ", health: {path: healthz}}]}", ":1:", "no path"},
		{"{upstreams: [{" + good + ", colour: red}]}", ":1:", "colour"},
		{"{upstreams: [{" + good + "}, {name: other, servers: ['http://y']}]}", ":1:", "no routes"},
		{"{upstreams: [{" + good + "}], routes: [{upstream: other}]}", ":1:", "no upstream"},
		{"{upstreams: [{" + good + "}], routes: [{upstream: app, prefix: api}]}", ":1:", "no plain path"},
		{"{upstreams: [{" + good + "}], routes: [{upstream: app, hosts: ['x:80']}]}", ":1:", "no name of a host"},
		{"{upstreams: [{" + good + "}], routes: [{upstream: app, prefix: /a}, {upstream: app, prefix: /a/}]}", ":1:", "same host and prefix"},
	} {
		_, err := gateway(t, "gateway: "+c.section, nil)
		if err == nil || !strings.Contains(err.Error(), c.reason) || !strings.Contains(err.Error(), c.place) {
			t.Errorf("%s:\n%v", c.section, err)
		}
	}
}
