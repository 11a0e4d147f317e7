package httplimit_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/store"
)

// prefixes reads networks that are right.
func prefixes(texts ...string) []netip.Prefix {
	all, err := httplimit.ParsePrefixes(texts...)
	if err != nil {
		panic(err)
	}
	return all
}

// request makes a GET from an address, with pairs of header name and value.
func request(remote string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = remote
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// serve returns what h answers.
func serve(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// served is a handler that says so.
var served http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "served")
})

func body(t testing.TB, res *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantStatus(t testing.TB, what string, res *http.Response, want int) {
	t.Helper()
	if res.StatusCode != want {
		t.Errorf("%s: status %d, want %d", what, res.StatusCode, want)
	}
}

// mustPrefix is netip.ParsePrefix, or the zero Prefix for what is none.
func mustPrefix(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// brokenStore fails.
type brokenStore struct{ err error }

func (b brokenStore) Take(context.Context, store.Op, []store.Check) error { return b.err }
