package rule_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/rule"
)

// The reference tries every rule, in the plainest way.

func refMatches(m rule.Match, r rule.Request) bool {
	return anyOf(m.Methods, func(s string) bool { return s == r.Method || s == "GET" && r.Method == "HEAD" }) &&
		anyOf(m.Hosts, func(s string) bool { return refHost(s, r.Host) }) &&
		anyOf(m.Paths, func(s string) bool { return refPath(s, r.Path) }) &&
		anyOf(m.IPs, func(s string) bool { return refIP(s, r.IP) }) &&
		allOf(m.Headers, func(name string) string { return r.Header.Get(textproto.CanonicalMIMEHeaderKey(name)) }) &&
		allOf(m.Attributes, func(name string) string { return r.Attributes[name] })
}

func anyOf(list []string, fits func(string) bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, fits)
}

func allOf(tests map[string]string, get func(string) string) bool {
	for name, want := range tests {
		if got := get(name); got == "" || want != "*" && got != want {
			return false
		}
	}
	return true
}

func refHost(entry, host string) bool {
	host, _, _ = strings.Cut(strings.ToLower(host), ":")
	if strings.HasPrefix(entry, "*.") {
		return strings.HasSuffix(host, entry[1:])
	}
	return host == entry
}

func refPath(entry, path string) bool {
	want, got := strings.Split(entry, "/")[1:], strings.Split(path, "/")[1:]
	if path == "/" {
		got = nil
	}
	if entry == "/" {
		want = nil
	}
	for i, segment := range want {
		if segment == "*" {
			return true
		}
		if i >= len(got) || segment[0] != '{' && segment != got[i] {
			return false
		}
	}
	return len(want) == len(got)
}

func refIP(entry string, ip netip.Addr) bool {
	if p, err := netip.ParsePrefix(entry); err == nil {
		return p.Contains(ip.Unmap())
	}
	return netip.MustParseAddr(entry) == ip.Unmap()
}

// draw makes random rules and requests of few words, so that many fit.
type draw struct{ *rand.Rand }

func pick[T any](d draw, list ...T) T { return list[d.IntN(len(list))] }

// some returns up to n random texts, most often none.
func (d draw) some(n int, one func() string) []string {
	if d.IntN(3) > 0 {
		return nil
	}
	var list []string
	for range 1 + d.IntN(n) {
		list = append(list, one())
	}
	return list
}

func (d draw) path(pattern bool) string {
	path := ""
	for i := range d.IntN(4) {
		if pattern && d.IntN(3) == 0 {
			path += fmt.Sprintf("/{v%d}", i)
		} else {
			path += "/" + pick(d, "a", "b", "c", "api")
		}
	}
	if pattern && d.IntN(4) == 0 {
		return path + "/*"
	}
	if path == "" {
		return "/"
	}
	return path
}

func (d draw) host() string { return pick(d, "", "x.", "y.") + pick(d, "a.com", "b.com", "c.a.com") }

func (d draw) hostEntry() string { return pick(d, "", "*.") + d.host() }

func (d draw) prefix() string {
	return pick(d, "10.0.0.1", "10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/24", "0.0.0.0/0", "2001:db8::/32", "2001:db8::1", "::/0")
}

func (d draw) ip() netip.Addr {
	return netip.MustParseAddr(pick(d, "10.0.0.1", "10.0.0.2", "::ffff:10.1.2.3", "192.0.2.1", "2001:db8::1", "2001:db9::1"))
}

func (d draw) tests(names ...string) map[string]string {
	if d.IntN(3) > 0 {
		return nil
	}
	m := map[string]string{}
	for range 1 + d.IntN(2) {
		m[pick(d, names...)] = pick(d, "1", "2", "3", "*")
	}
	return m
}

func (d draw) rules(n int) rule.Config {
	var config rule.Config
	for i := range n {
		config.Rules = append(config.Rules, rule.Rule{
			Name: fmt.Sprintf("r%d", i),
			Match: rule.Match{
				Methods:    d.some(2, func() string { return pick(d, "GET", "PUT", "POST", "HEAD") }),
				Hosts:      d.some(12, d.hostEntry),
				Paths:      d.some(12, func() string { return d.path(true) }),
				IPs:        d.some(12, d.prefix),
				Headers:    d.tests("X-A", "x-b"),
				Attributes: d.tests("a", "b", "c", "d"),
			},
			Mode:   pick(d, "", rule.Enforce, rule.Shadow, rule.Off),
			Limits: tenPerSecond,
		})
	}
	return config
}

func (d draw) request() rule.Request {
	value := func() string { return pick(d, "", "1", "2", "3", "4") }
	r := rule.Request{
		Method: pick(d, "GET", "PUT", "DELETE", "HEAD"), Host: pick(d, "", "", ".") + d.host() + pick(d, "", ":80"), Path: d.path(false), IP: d.ip(),
		Header: http.Header{"X-A": {value()}, "X-B": {value()}},
	}
	if d.IntN(2) == 0 {
		r.Attributes = map[string]string{"a": value(), "b": value(), "d": value(), "other": value(), "more": value()}
	} else {
		r.Attributes = map[string]string{"c": value()}
	}
	return r
}

// TestIndexAgainstReference: the index finds what trying every rule finds.
func TestIndexAgainstReference(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for round := range algotest.Rounds(40, 5000) {
		d := draw{algotest.Rand(seed, uint64(round))}
		config := d.rules(1 + d.IntN(pick(d, 5, 50, 400)))
		set, err := rule.Compile(config)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		var m rule.Matches
		for range 40 {
			r := d.request()
			var want, got, explained []string
			for _, c := range config.Rules {
				if c.Mode != rule.Off && refMatches(c.Match, r) {
					want = append(want, c.Name)
				}
			}
			set.Match(&r, &m)
			for _, h := range m.Hits {
				got = append(got, h.Rule.Name)
			}
			for _, why := range set.Explain(&r) {
				if why.Matches {
					explained = append(explained, why.Rule.Name)
				}
			}
			if !slices.Equal(got, want) || !slices.Equal(explained, want) {
				t.Fatalf("round %d: %+v\nmatches   %v\nexplained %v\nwant      %v", round, r, got, explained, want)
			}
		}
	}
}
