package sluiceclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sluiceclient "github.com/sluice-limiter/sluice/contrib/client"
)

// request is what a server got.
type request struct {
	path, token, kind, body string
}

// serve answers every call with a status and a body, and remembers what it was asked.
func serve(t testing.TB, status int, kind, body string, opts ...sluiceclient.Option) (*sluiceclient.Client, *[]request) {
	t.Helper()
	var asked []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		asked = append(asked, request{r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(text)})
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c, err := sluiceclient.New(server.URL+"/", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, &asked
}

const denied = `{"allowed":false,"reason":"limited","rule":"login","limit":"per-minute","remaining":0,"retry_after_ms":12000,"reset_after_ms":60000,"wait_ms":0,"shadow":false,"degraded":true,"later":1}`

func TestCheck(t *testing.T) {
	c, asked := serve(t, 200, "application/json", denied, sluiceclient.Token("secret"))
	d, err := c.Check(t.Context(), sluiceclient.Request{Method: "POST", Path: "/login", IP: "192.0.2.1", Headers: map[string]string{"A": "b"}})
	want := sluiceclient.Decision{
		Reason: sluiceclient.Limited, Rule: "login", Limit: "per-minute", RetryAfter: 12 * time.Second, ResetAfter: time.Minute, Degraded: true,
	}
	if err != nil || d != want {
		t.Errorf("%+v, %v", d, err)
	}
	if got := (*asked)[0]; got != (request{"/v1/check", "Bearer secret", "application/json", `{"method":"POST","path":"/login","ip":"192.0.2.1","headers":{"A":"b"}}`}) {
		t.Errorf("asked %+v", got)
	}
}

func TestExplain(t *testing.T) {
	c, asked := serve(t, 200, "application/json", `{"decision":`+denied+`,"path":"/login","calls":3,"rules":[
		{"rule":"login","matches":true,"why":"fits","key":"ann","mode":"enforce","cost":2,"limits":[{"name":"per-minute","limit":"5/m","reset_after_ms":60000}]}]}`)
	x, err := c.Explain(t.Context(), sluiceclient.Request{Path: "//login"})
	if err != nil || (*asked)[0].path != "/v1/explain" {
		t.Fatalf("%+v, %v", *asked, err)
	}
	if x.Decision.Rule != "login" || x.Path != "/login" || x.Calls != 3 || len(x.Rules) != 1 {
		t.Errorf("%+v", x)
	}
	if r := x.Rules[0]; !r.Matches || r.Key != "ann" || r.Cost != 2 || len(r.Limits) != 1 || r.Limits[0].ResetAfter != time.Minute {
		t.Errorf("%+v", r)
	}
}

// TestCheckAll: many requests go in several calls, in order.
func TestCheckAll(t *testing.T) {
	var sizes []int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Requests []struct{ Cost int64 } }
		_ = json.NewDecoder(r.Body).Decode(&body)
		sizes = append(sizes, len(body.Requests))
		if len(sizes) == 4 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		var decisions []string
		for _, q := range body.Requests {
			decisions = append(decisions, fmt.Sprintf(`{"remaining":%d,"error":%q}`, q.Cost, strings.Repeat("x", int(q.Cost%2))))
		}
		fmt.Fprintf(w, `{"decisions":[%s]}`, strings.Join(decisions, ","))
	}))
	defer server.Close()
	c, err := sluiceclient.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all := make([]sluiceclient.Request, 2500)
	for i := range all {
		all[i].Cost = int64(i + 1)
	}
	got, err := c.CheckAll(t.Context(), all)
	if err != nil || len(got) != 2500 || fmt.Sprint(sizes) != "[1000 1000 500]" {
		t.Fatalf("%d decisions, calls %v, %v", len(got), sizes, err)
	}
	for i, d := range got {
		if d.Remaining != int64(i+1) || (d.Err != nil) != (i%2 == 0) {
			t.Fatalf("decision %d: %+v", i, d)
		}
	}
	if got, err := c.CheckAll(t.Context(), nil); err != nil || len(got) != 0 || len(sizes) != 3 {
		t.Errorf("nothing to ask: %v, %v", got, err)
	}
	if _, err := c.CheckAll(t.Context(), all); err == nil {
		t.Error("no error")
	}
}

func TestCheckAllShort(t *testing.T) {
	c, _ := serve(t, 200, "application/json", `{"decisions":[]}`)
	if _, err := c.CheckAll(t.Context(), make([]sluiceclient.Request, 2)); err == nil || !strings.Contains(err.Error(), "0 decisions for 2") {
		t.Errorf("%v", err)
	}
}

func TestProblem(t *testing.T) {
	body := `{"type":"urn:sluice:problem:invalid-field","title":"Bad Request","status":400,"detail":"ip: \"x\" is no IP address","hint":"give it alone","field":"ip"}`
	c, _ := serve(t, 400, "application/problem+json", body)
	_, err := c.Check(t.Context(), sluiceclient.Request{IP: "x"})
	var e *sluiceclient.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := sluiceclient.Error{
		Status: 400, Type: "urn:sluice:problem:invalid-field", Title: "Bad Request", Detail: `ip: "x" is no IP address`,
		Hint: "give it alone", Field: "ip", RetryAfter: 7 * time.Second,
	}
	if *e != want {
		t.Errorf("%+v", e)
	}
	if got := err.Error(); got != `sluiceclient: check: status 400: ip: "x" is no IP address (give it alone)` {
		t.Error(got)
	}
}

func TestErrorsMatch(t *testing.T) {
	settled := `{"type":"urn:sluice:problem:settled","detail":"gone"}`
	c, _ := serve(t, 409, "application/problem+json", settled)
	if err := c.Commit(t.Context(), sluiceclient.Request{}, "id", 1); !errors.Is(err, sluiceclient.ErrSettled) || errors.Is(err, sluiceclient.ErrUnauthorized) {
		t.Error(err)
	}
	c, _ = serve(t, 401, "text/html", "<h1>Log in</h1>")
	err := c.Reset(t.Context(), sluiceclient.Request{})
	if !errors.Is(err, sluiceclient.ErrUnauthorized) || errors.Is(err, sluiceclient.ErrSettled) || !strings.Contains(err.Error(), "status 401: Unauthorized") {
		t.Error(err)
	}
	c, _ = serve(t, 200, "text/html", "<h1>Welcome</h1>")
	if _, err := c.Peek(t.Context(), sluiceclient.Request{}); err == nil || !strings.Contains(err.Error(), "no JSON of a sluice server") {
		t.Error(err)
	}
}

func TestReservation(t *testing.T) {
	c, asked := serve(t, 200, "application/json", `{"id":"R1","allowed":true,"remaining":4}`)
	r, err := c.Reserve(t.Context(), sluiceclient.Request{User: "ann", Cost: 5})
	if err != nil || !r.Allowed || r.ID != "R1" || r.Remaining != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := r.Commit(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if got := (*asked)[1]; got.path != "/v1/commit" || got.body != `{"user":"ann","cost":5,"id":"R1","actual":2}` {
		t.Errorf("%+v", got)
	}
	c, asked = serve(t, 200, "application/json", `{"allowed":false}`)
	if r, err = c.Reserve(t.Context(), sluiceclient.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), 2); !errors.Is(err, sluiceclient.ErrSettled) || len(*asked) != 1 {
		t.Errorf("commit of a denial: %v, %d calls", err, len(*asked))
	}
}

func TestNewRefuses(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "127.0.0.1:8080", "ftp://x", "http://", "http://x?a=1", "http://u:p@x", "http://x#f", "::"} {
		if _, err := sluiceclient.New(address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	if _, err := sluiceclient.New("http://x", sluiceclient.Token("secret\n")); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("token with a line break: %v", err)
	}
}

// TestNoRedirects: a call goes nowhere else.
func TestNoRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, err := sluiceclient.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var e *sluiceclient.Error
	if _, err := c.Check(t.Context(), sluiceclient.Request{}); !errors.As(err, &e) || e.Status != http.StatusTemporaryRedirect {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	c, asked := serve(t, 200, "application/json", denied)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Check(ctx, sluiceclient.Request{}); !errors.Is(err, context.Canceled) || len(*asked) != 0 {
		t.Errorf("%v, %d calls", err, len(*asked))
	}
}
