package forwardauth_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// plainRequest is the request as the application would get it.
func plainRequest(t testing.TB, target string) *http.Request {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/", nil)
	r.URL, r.Host, r.RemoteAddr = u, "a.example", "192.0.2.1:1"
	return r
}

// FuzzQuestion: whatever stands in the fields, the answer is one that proxies understand,
// and nobody gets more than the rules allow.
func FuzzQuestion(f *testing.F) {
	f.Add("POST", "/login", "a.example", "192.0.2.1", "4")
	f.Add("", "", "", "", "")
	f.Add("GET", "//%2f;\\", "[::1]:x", "a, b,,", "-1")
	f.Add("G\x00T", "/\r\n", "\xff", "fe80::1%eth0", "9999999999999999999999")
	f.Fuzz(func(t *testing.T, method, target, host, client, length string) {
		for name, names := range fields {
			h, allowed := newHandler(t, rules(), nil), 0
			for range 12 {
				r := question(name, method, target, client)
				r.Header.Set(names[2], host)
				r.Header.Set("X-Original-Length", length)
				got := ask(t, h, r)
				switch got.status {
				case http.StatusNoContent:
					allowed++
				case 400, 403, 429, 500:
				default:
					t.Errorf("%s: status %d", name, got.status)
				}
				for field, lines := range got.header {
					if strings.ContainsAny(strings.Join(lines, ""), "\r\n\x00") {
						t.Errorf("%s: the field %s is %q", name, field, lines)
					}
				}
			}
			if allowed > 10 {
				t.Errorf("%s: %d were allowed", name, allowed)
			}
		}
	})
}
