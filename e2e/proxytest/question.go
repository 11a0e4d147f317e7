package proxytest

import (
	"net/http"
	"testing"
)

// Fields are the names under which a proxy tells sluice of a request.
type Fields struct{ Method, URI, Host, Client string }

// Question is about what a proxy tells sluice: everything, once, over what the client
// says about itself, and nothing of the body. further are more fields that a POST of
// four bytes has to have.
func Question(t *testing.T, start func(sluice, app string) *Process, names Fields, further map[string]string) {
	t.Helper()
	auth, app := NewAuth(t), NewApp(t)
	proxy := start(auth.Addr, app.Addr).Addr
	r := NewClient(t, proxy, "127.0.0.3").Do("POST", "/a%2fb;c/../d?q=%41", "body", "X-Api-Key", "k",
		names.URI, "/forged", names.Method, "PUT", names.Host, "forged.example", names.Client, "192.0.2.1")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", r.StatusCode, r.Text)
	}
	asked, n := auth.Last()
	if n != 1 || asked.Method != http.MethodGet || asked.Body != 0 {
		t.Errorf("%d questions, the last by %s with %d bytes", n, asked.Method, asked.Body)
	}
	want := map[string]string{
		names.Method: "POST", names.URI: "/a%2fb;c/../d?q=%41", names.Host: proxy, names.Client: "127.0.0.3", "X-Api-Key": "k",
	}
	for name, value := range further {
		want[name] = value
	}
	for name, value := range want {
		if got := asked.Header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

// Down is about what a client gets when sluice is down: the given status. As long as it
// is up, limits hold.
func Down(t *testing.T, start func(sluice, app string) *Process, rules string, status int) {
	t.Helper()
	sluice, app := Sluice(t, rules), NewApp(t)
	c := NewClient(t, start(sluice.Addr, app.Addr).Addr, "127.0.0.1")
	exhaust(t, c)
	if r := c.Do("POST", "/login", ""); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("while it is up: status %d, want 429: %s", r.StatusCode, r.Text)
	}
	sluice.Stop()
	if r := c.Do("POST", "/login", "body"); r.StatusCode != status {
		t.Errorf("when it is down: status %d, want %d: %s", r.StatusCode, status, r.Text)
	}
}
