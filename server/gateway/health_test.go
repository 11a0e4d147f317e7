package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// switchable is a server that can be told to close every connection at once, and what to
// say of its health.
type switchable struct {
	*httptest.Server
	broken, sick atomic.Bool
	asked        atomic.Int64
}

func newSwitchable(t *testing.T) *switchable {
	t.Helper()
	s := &switchable{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz":
			if s.sick.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		case s.broken.Load():
			panic(http.ErrAbortHandler)
		default:
			s.asked.Add(1)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestServersTakeTurns(t *testing.T) {
	a, b, c := newSwitchable(t), newSwitchable(t), newSwitchable(t)
	g := start(t, fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q, %q, %q]}]}", a.URL, b.URL, c.URL))
	for range 30 {
		g.get("/")
	}
	if a.asked.Load() != 10 || b.asked.Load() != 10 || c.asked.Load() != 10 {
		t.Errorf("%d %d %d", a.asked.Load(), b.asked.Load(), c.asked.Load())
	}
}

// Without checks a server is down after failures in a row, and tried now and then.
func TestPassiveHealth(t *testing.T) {
	a := newSwitchable(t)
	g := start(t, single(a.URL, "retries: 0", "health: {fall: 2, pause: 50ms}"))
	up := func() float64 { return g.count("sluice_gateway_upstream_up") }
	a.broken.Store(true)
	for _, want := range []int{502, 502, 503} {
		if res, _ := g.get("/"); res.StatusCode != want {
			t.Errorf("%s, want %d", res.Status, want)
		}
	}
	if up() != 0 {
		t.Error("it is not down")
	}
	res, text := g.get("/")
	if res.StatusCode == 503 && (res.Header.Get("Retry-After") != "1" || !strings.Contains(text, "no-server")) {
		t.Errorf("%v %s", res.Header, text)
	}
	a.broken.Store(false)
	eventually(t, "it is up", func() bool { g.get("/"); return up() == 1 })
	if res, _ := g.get("/"); res.StatusCode != 200 {
		t.Error(res.Status)
	}
}

func TestActiveHealth(t *testing.T) {
	a, b := newSwitchable(t), newSwitchable(t)
	a.sick.Store(true)
	g := start(t, fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q, %q], health: {path: /healthz, every: 5ms, fall: 2, rise: 3}}]}", a.URL, b.URL))
	eventually(t, "the sick one is down", func() bool { return g.count("sluice_gateway_upstream_up", a.URL) == 0 })
	before := a.asked.Load()
	for range 10 {
		if res, _ := g.get("/"); res.StatusCode != 200 {
			t.Error(res.Status)
		}
	}
	if a.asked.Load() != before || g.count("sluice_gateway_upstream_up", b.URL) != 1 {
		t.Error("the sick one is asked, or the other is not")
	}
	a.sick.Store(false)
	eventually(t, "it is asked again", func() bool { g.get("/"); return a.asked.Load() > before })
}
