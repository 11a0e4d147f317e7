package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func named(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name) }))
	t.Cleanup(s.Close)
	return s
}

func TestApply(t *testing.T) {
	one, two := named(t, "one"), named(t, "two")
	g := start(t, single(one.URL))
	if _, text := g.get("/"); text != "one" {
		t.Error(text)
	}
	if err := g.Apply(load(t, single(two.URL)).Gateway); err != nil {
		t.Fatal(err)
	}
	if _, text := g.get("/"); text != "two" {
		t.Error(text)
	}
	bad := load(t, single(one.URL)).Gateway
	bad.Upstreams[0].CA = "/does/not/exist"
	if err := g.Apply(bad); err == nil {
		t.Error("no error")
	}
	if _, text := g.get("/"); text != "two" {
		t.Error(text)
	}
}

// What is under way goes on with the server that it began with, and what is known of a
// server that stays is kept.
func TestApplyKeepsWhatIsUnderWay(t *testing.T) {
	b := newBlocking(t)
	two := named(t, "two")
	g := start(t, single(b.URL, "concurrency: {limit: 1}"))
	var all sync.WaitGroup
	all.Go(func() {
		if res, _ := g.get("/"); res.StatusCode != 200 {
			t.Error(res.Status)
		}
	})
	eventually(t, "it is there", func() bool { return b.inside.Load() == 1 })
	both := fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q, %q], concurrency: {limit: 1}}]}", b.URL, two.URL)
	if err := g.Apply(load(t, both).Gateway); err != nil {
		t.Fatal(err)
	}
	if res, _ := g.get("/"); res.StatusCode != 503 {
		t.Errorf("%s: the place is taken", res.Status)
	}
	if err := g.Apply(load(t, single(two.URL, "concurrency: {limit: 2}")).Gateway); err != nil {
		t.Fatal(err)
	}
	if _, text := g.get("/"); text != "two" {
		t.Error(text)
	}
	close(b.release)
	all.Wait()
}

// A change that fails halfway leaves the limits of all upstreams as they are.
func TestApplyIsNotHalfDone(t *testing.T) {
	b := newBlocking(t)
	const two = "gateway: {upstreams: [{name: a, servers: [%q], concurrency: {limit: %d}}, {name: b, servers: ['http://127.0.0.1:1']%s}], routes: [{upstream: a}, {prefix: /b, upstream: b}]}"
	g := start(t, fmt.Sprintf(two, b.URL, 1, ""))
	var all sync.WaitGroup
	all.Go(func() { g.get("/") })
	eventually(t, "it is there", func() bool { return b.inside.Load() == 1 })
	if err := g.Apply(load(t, fmt.Sprintf(two, b.URL, 2, ", ca: /does/not/exist")).Gateway); err == nil {
		t.Error("no error")
	}
	refused := errors.New("refused")
	if err := g.ApplyWith(load(t, fmt.Sprintf(two, b.URL, 2, "")).Gateway, func() error { return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	var refusals atomic.Int64
	all.Go(func() {
		if res, _ := g.get("/"); res.StatusCode == 503 {
			refusals.Add(1)
		}
	})
	eventually(t, "the second is refused or there", func() bool { return refusals.Load()+b.inside.Load() == 2 })
	if b.inside.Load() > 1 {
		t.Error("the new limit is in force")
	}
	close(b.release)
	all.Wait()
}

func TestApplyUnderLoad(t *testing.T) {
	servers := []string{named(t, "a").URL, named(t, "b").URL, named(t, "c").URL}
	g := start(t, single(servers[0]))
	var all sync.WaitGroup
	var over atomic.Bool
	for i := range 4 {
		all.Go(func() {
			for n := 0; !over.Load() || n == 0; n++ {
				body := strings.Repeat("x", i%2*100)
				if res, text := g.do(request(t, []string{"GET", "POST"}[i%2], g.url+"/", body)); res.StatusCode != 200 || len(text) != 1 {
					t.Errorf("%s %s", res.Status, text)
					return
				}
			}
		})
	}
	for i := range 200 {
		if err := g.Apply(load(t, single(servers[i%3])).Gateway); err != nil {
			t.Fatal(err)
		}
	}
	over.Store(true)
	all.Wait()
}
