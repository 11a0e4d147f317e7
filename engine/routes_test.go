package engine

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

func TestAppendRoute(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/", "GET /"},
		{"GET", "", "GET /"},
		{"POST", "/login", "POST /login"},
		{"GET", "/users/42", "GET /users/{id}"},
		{"GET", "/users/42/orders/7f3a9c01", "GET /users/{id}/orders/{id2}"},
		{"GET", "/a/b/c/d", "GET /a/b/c/d"},
		{"GET", "/a/b/c/d/e/f", "GET /a/b/c/d/*"},
		{"GET", "/1/2/3/4/5", "GET /{id}/{id2}/{id3}/{id4}/*"},
		{"GET", "/api/v2/oauth2/s3", "GET /api/v2/oauth2/s3"},
		{"GET", "/o/123e4567-e89b-12d3-a456-426614174000", "GET /o/{id}"},
		{"GET", "/d/2026-11-15", "GET /d/{id}"},
		{"GET", "/u/user-10023", "GET /u/{id}"},
		{"GET", "/u/ann@example.com", "GET /u/{id}"},
		{"GET", "/t/V1StGXR8_Z5jdHi6B-myT", "GET /t/{id}"},
		{"GET", "/t/01ARZ3NDEKTSV4RRFFQ69G5FAV", "GET /t/{id}"},
		{"GET", "/deadbeef", "GET /deadbeef"}, // a word for all we know
		{"GET", "/dead-beef-1", "GET /{id}"},
		{"GET", "/" + strings.Repeat("x", 41), "GET /{id}"},
		{"select", "/orders", "select /orders"},
		{"", "/a", "* /a"},
		{"GET\nX", "/a", "* /a"},
		{strings.Repeat("A", 17), "/a", "* /a"},
	} {
		if got := string(appendRoute(nil, c.method, c.path)); got != c.want {
			t.Errorf("%q %q: got %q, want %q", c.method, c.path, got, c.want)
		}
	}
}

func TestUncovered(t *testing.T) {
	rules := watchedRules("a")
	w, now := watchAt(rules)
	visit := func(method, path string, outcomes ...Outcome) {
		e := happened(outcomes...)
		e.Request = &Request{Method: method, Path: path}
		e.Path = path
		w.observe(e)
	}
	visit("GET", "/users/1")
	visit("GET", "/users/2")
	visit("GET", "/new\nline")
	visit("GET", "/covered", said(rules[0], "ann", true))
	ambiguous := happened()
	ambiguous.Decision = refusal(sluice.Ambiguous, nil)
	w.observe(ambiguous)

	want := []Route{{"GET", "/users/{id}", 2, 0}, {"GET", `/new\nline`, 1, 0}}
	if got := w.uncovered(5); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	*now = now.Add(30 * time.Minute)
	if got := w.uncovered(1); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("half an hour later: got %v, want %v", got, want[:1])
	}
	w.swapRules(rules)
	if got := w.uncovered(5); len(got) != 0 {
		t.Errorf("with new rules there still is %v", got)
	}
}

// TestUncoveredIsBounded: a client that asks for ever new paths gets no more than its
// share of the table.
func TestUncoveredIsBounded(t *testing.T) {
	w, _ := watchAt(nil)
	e := happened()
	for i := range 5000 {
		e.Path = "/" + strings.Repeat("x", i%30) + "/" + string(rune('a'+i%26)) + "/" + string(rune('a'+i/26%26))
		w.observe(e)
		e.Path = "/real"
		w.observe(e)
	}
	if got := w.uncovered(1); got[0].Path != "/real" {
		t.Errorf("got %v", got)
	}
	if got := len(w.uncovered(1 << 20)); got > 1024 {
		t.Errorf("%d routes are kept", got)
	}
}

func FuzzAppendRoute(f *testing.F) {
	f.Add("GET", "/users/42")
	f.Add("G T", "//a///b/../\x00")
	f.Fuzz(func(t *testing.T, method, path string) {
		route := string(appendRoute(nil, method, path))
		word, rest, ok := strings.Cut(route, " ")
		if !ok || word == "" || len(word) > maxMethod || !strings.HasPrefix(rest, "/") {
			t.Fatalf("%q %q became %q", method, path, route)
		}
		if n := strings.Count(rest, "/"); n > maxSegments+1 || len(rest) > (maxSegments+1)*(maxSegment+2) {
			t.Fatalf("%q %q became %q", method, path, route)
		}
	})
}
