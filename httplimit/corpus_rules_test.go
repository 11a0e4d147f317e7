package httplimit_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// TestHostileKeysOfRules: who writes his cookie or parameter in odd ways beside the true
// one is charged as whom the handler sees, and so has one budget however he writes it.
func TestHostileKeysOfRules(t *testing.T) {
	cookies := func(lines ...string) func(i int) *http.Request {
		return func(i int) *http.Request {
			r := get("/")
			for _, line := range lines {
				r.Header.Add("Cookie", fmt.Sprintf(line, i))
			}
			return r
		}
	}
	query := func(text string) func(i int) *http.Request {
		return func(i int) *http.Request {
			r := get("/")
			r.URL.RawQuery = fmt.Sprintf(text, i)
			return r
		}
	}
	bySession := func(r *http.Request) string {
		if c, err := r.Cookie("sid"); err == nil {
			return c.Value
		}
		return ""
	}
	byUser := func(r *http.Request) string { return r.URL.Query().Get("u") }
	for _, c := range []struct {
		name string
		key  string
		make func(i int) *http.Request
		seen func(*http.Request) string
	}{
		{"two lines", "cookie:sid", cookies("other=%d", "sid=real; n=%d"), bySession},
		{"backslash", "cookie:sid", cookies(`sid=a\%d; sid=real`), bySession},
		{"not ASCII", "cookie:sid", cookies("sid=\xff%d; sid=real"), bySession},
		{"backslash in a line of its own", "cookie:sid", cookies(`sid=a\%d`, "sid=real; n=%d"), bySession},
		{"open quote", "cookie:sid", cookies(`sid="a%d; sid=real`), bySession},
		{"control character", "cookie:sid", cookies("sid=a\x01%d; sid=real"), bySession},
		{"quoted and not", "cookie:sid", cookies(`sid="real"; sid=%d`), bySession},
		{"another name", "cookie:sid", cookies("Sid=%d; sid=real; sid=%[1]d"), bySession},
		{"broken escape", "query:u", query("u=%%zz%d&u=real"), byUser},
		{"semicolon", "query:u", query("u=a;b%d&u=real"), byUser},
		{"semicolon in the name", "query:u", query("a;u=%d&u=real"), byUser},
		{"escaped name", "query:u", query("%%75=real&u=%d"), byUser},
		{"escaped value", "query:u", query("u=re%%61l&x=%d"), byUser},
		{"half an escape", "query:u", query("u=%d%%6&u=real"), byUser},
		{"without a value further on", "query:u", query("u=real&u&u=%d"), byUser},
	} {
		e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Key: []string{c.key}, Limits: limits("1/h")}}})
		h := httplimit.Rules(e)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, c.seen(r)) }))
		admitted := 0
		for i := range 100 {
			res := serve(h, c.make(i))
			if res.StatusCode != http.StatusOK {
				continue
			}
			if admitted++; body(t, res) != "real" {
				t.Fatalf("%s: the handler sees somebody else: the case is wrong", c.name)
			}
		}
		if admitted != 1 {
			t.Errorf("%s: %d of 100 requests of one client admitted", c.name, admitted)
		}
		d, err := e.Peek(t.Context(), rule.Request{Path: "/", Query: "u=real", Header: http.Header{"Cookie": {"sid=real"}}})
		if err != nil || d.Allowed || d.Reason != sluice.Limited {
			t.Errorf("%s: not charged to the one that the handler sees", c.name)
		}
	}
}
