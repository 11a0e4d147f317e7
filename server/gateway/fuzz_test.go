package gateway

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Whatever a client sends, its line of the log is one line of JSON.
func FuzzAppendLine(f *testing.F) {
	for _, seed := range []string{"", "GET", "a\"b\\c", "\r\n\x1b[31m", "\xff\xfe", "é\u2028\u0085", strings.Repeat("é", 3000)} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, path, agent string) {
		x := &exchange{path: path, agent: agent, client: netip.MustParseAddr("::1"), began: time.Unix(0, 0)}
		line := string(x.appendLine(nil, time.Second))
		if !strings.HasSuffix(line, "}\n") || strings.Count(line, "\n") != 1 || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\x1b\x00\x7f\u2028") {
			t.Errorf("%q", line)
		}
		var fields struct{ Path, Agent string }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("%v: %q", err, line)
		}
		if len(path) < longest && utf8.ValidString(path) && fields.Path != path && !strings.ContainsAny(path, "\u2028\u2029") && !hasC1(path) {
			t.Errorf("%q became %q", path, fields.Path)
		}
	})
}

// hasC1 reports whether a text has control characters that are two bytes long.
func hasC1(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 && r < 0xa0 })
}

// Whatever a client that is not trusted sends, nobody but itself is named.
func FuzzForwarding(f *testing.F) {
	for _, seed := range [][2]string{
		{"X-Forwarded-For", "203.0.113.1"},
		{"x_forwarded_for", "203.0.113.1"},
		{"Forwarded", "for=203.0.113.1"},
		{"X-Real_Ip", "203.0.113.1"},
		{"Connection", "X-Forwarded-For, Forwarded, X-Real-Ip"},
		{"Upgrade", "websocket"},
	} {
		f.Add(seed[0], seed[1], "Connection", "close")
	}
	f.Fuzz(func(t *testing.T, name, value, other, more string) {
		h := http.Header{}
		for _, pair := range [][2]string{{name, value}, {other, more}} {
			if pair[0] != "" {
				h.Add(pair[0], pair[1])
			}
		}
		peer := netip.MustParseAddr("192.0.2.1")
		x := &exchange{gateway: &Gateway{}, request: &http.Request{Header: h, Host: "shop.example.com", ProtoMajor: 1}, peer: peer, client: peer}
		x.passOn()
		for name, lines := range h {
			plain := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
			want := ""
			switch {
			case plain == "X-Forwarded-For", plain == "X-Real-Ip":
				want = "192.0.2.1"
			case plain == "X-Forwarded-Proto":
				want = "http"
			case plain == "X-Forwarded-Host":
				want = "shop.example.com"
			case plain == "Forwarded":
				want = `for=192.0.2.1;host="shop.example.com";proto=http`
			default:
				continue
			}
			if name != plain || len(lines) != 1 || lines[0] != want {
				t.Errorf("%q: %q", name, lines)
			}
		}
	})
}

// A path leads to the same upstream in every way of writing it.
func FuzzFind(f *testing.F) {
	for _, path := range []string{"/api", "/api/x", "//api", "/x/../api", "/%61pi", "/apis", "/api%2fx", "/", ""} {
		f.Add("shop.example.com", path)
	}
	api, web := &upstream{}, &upstream{}
	table := &table{byPath: true, hosts: map[string][]route{}, rest: []route{{prefix: "/api", upstream: api}, {upstream: web}}}
	f.Fuzz(func(t *testing.T, host, path string) {
		found, ambiguous := table.find(host, path)
		if found == nil != ambiguous {
			t.Errorf("%q: %v %v", path, found, ambiguous)
		}
		for _, other := range []string{"/" + path, path + "/", "/x/.." + path} {
			again, unclear := table.find(host, other)
			if !ambiguous && !unclear && strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "?#") && again.upstream != found.upstream {
				t.Errorf("%q and %q lead elsewhere", path, other)
			}
		}
	})
}
