package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

// TestPreflightIsFree: a browser's own question is not counted, anything that only
// looks a bit like it is.
func TestPreflightIsFree(t *testing.T) {
	preflight := func() *http.Request {
		r := request("192.0.2.1:1", "Origin", "https://a.example", "Access-Control-Request-Method", "PUT")
		r.Method = http.MethodOptions
		return r
	}
	h := httplimit.ByIP(sluice.PerHour(1))(served)
	for range 5 {
		wantStatus(t, "preflight", serve(h, preflight()), http.StatusOK)
	}
	wantStatus(t, "first", serve(h, request("192.0.2.1:1")), http.StatusOK)
	get := preflight()
	get.Method = http.MethodGet
	wantStatus(t, "GET with its headers", serve(h, get), http.StatusTooManyRequests)
	for _, without := range []string{"Origin", "Access-Control-Request-Method"} {
		r := preflight()
		r.Header.Del(without)
		wantStatus(t, "without "+without, serve(h, r), http.StatusTooManyRequests)
	}
	for _, name := range []string{"Authorization", "Cookie"} {
		r := preflight()
		r.Header.Set(name, "Basic YW5uOmd1ZXNz")
		wantStatus(t, "with "+name, serve(h, r), http.StatusTooManyRequests)
	}
	for _, length := range []int64{1, -1} {
		r := preflight()
		r.ContentLength = length
		wantStatus(t, "with a body", serve(h, r), http.StatusTooManyRequests)
	}
	counted := spent(t, httplimit.ByIP(sluice.PerHour(1), httplimit.CountPreflight())(served))
	wantStatus(t, "counted", serve(counted, preflight()), http.StatusTooManyRequests)
}

// TestHealthIsFree: exactly the paths that were named, and no other way to write them.
func TestHealthIsFree(t *testing.T) {
	srv := httptest.NewServer(httplimit.ByIP(sluice.PerHour(1), httplimit.Health("/healthz", "/live"))(served))
	defer srv.Close()
	wantStatus(t, "first", raw(t, srv, "/"), http.StatusOK)
	for _, path := range []string{"/healthz", "/live", "/healthz?verbose=1"} {
		wantStatus(t, path, raw(t, srv, path), http.StatusOK)
	}
	for _, path := range []string{
		"/healthz/", "//healthz", "/%68ealthz", "/healthz/..", "/healthz/../admin", "/healthz%2f..%2fadmin", "/healthz;x", "/HEALTHZ", "/healthz%00",
		"/healthz%2e", "/a/../healthz", "/./healthz", "/livenot", "/healthz%3fx",
	} {
		wantStatus(t, path, raw(t, srv, path), http.StatusTooManyRequests)
	}
	res, err := http.Post(srv.URL+"/healthz", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantStatus(t, "POST", res, http.StatusTooManyRequests)
	_ = res.Body.Close()
}

func TestFree(t *testing.T) {
	h := spent(t, httplimit.ByIP(sluice.PerHour(1), httplimit.Free(func(r *http.Request) bool { return r.TLS != nil }))(served))
	wantStatus(t, "limited", serve(h, request("192.0.2.1:1")), http.StatusTooManyRequests)
	r := httptest.NewRequest(http.MethodGet, "https://a.example/", nil)
	r.RemoteAddr = "192.0.2.1:1"
	wantStatus(t, "free", serve(h, r), http.StatusOK)
}
