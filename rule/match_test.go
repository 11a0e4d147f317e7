package rule_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// tenPerSecond is a limit where it does not matter which.
var tenPerSecond = []rule.Limit{{Limit: sluice.PerSecond(10)}}

// compiled returns the set of rules, of which those without a name or limits get
// some.
func compiled(t testing.TB, config rule.Config, opts ...rule.Option) *rule.Set {
	t.Helper()
	for i := range config.Rules {
		r := &config.Rules[i]
		if r.Name == "" {
			r.Name = string(rune('a' + i))
		}
		if r.Limits == nil {
			r.Limits = tenPerSecond
		}
	}
	set, err := rule.Compile(config, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// names returns the names of the rules that the request matches.
func names(set *rule.Set, r rule.Request) string {
	var m rule.Matches
	set.Match(&r, &m)
	if m.Ambiguous {
		return "ambiguous"
	}
	var found []string
	for _, h := range m.Hits {
		found = append(found, h.Rule.Name)
	}
	return strings.Join(found, " ")
}

// key returns the key of the only rule that the request matches.
func key(t testing.TB, set *rule.Set, r rule.Request) string {
	t.Helper()
	var m rule.Matches
	set.Match(&r, &m)
	if len(m.Hits) != 1 {
		t.Fatalf("%d hits, want 1", len(m.Hits))
	}
	return string(m.Hits[0].Key)
}

func TestMatchFields(t *testing.T) {
	base := rule.Request{
		Method: "POST", Host: "API.example.com:8443", Path: "/users/7/orders", IP: netip.MustParseAddr("192.0.2.7"),
		Header:     http.Header{"X-Plan": {"free"}},
		Attributes: map[string]string{"region": "eu"},
	}
	for name, c := range map[string]struct {
		match rule.Match
		want  bool
	}{
		"empty":                  {rule.Match{}, true},
		"method":                 {rule.Match{Methods: []string{"GET", "POST"}}, true},
		"another method":         {rule.Match{Methods: []string{"GET"}}, false},
		"HEAD is no POST":        {rule.Match{Methods: []string{"HEAD"}}, false},
		"host":                   {rule.Match{Hosts: []string{"api.example.com"}}, true},
		"host, upper case":       {rule.Match{Hosts: []string{"API.Example.com"}}, true},
		"host, wildcard":         {rule.Match{Hosts: []string{"*.example.com"}}, true},
		"host, higher wildcard":  {rule.Match{Hosts: []string{"*.com"}}, true},
		"host is no wildcard":    {rule.Match{Hosts: []string{"*.api.example.com"}}, false},
		"another host":           {rule.Match{Hosts: []string{"example.com"}}, false},
		"path":                   {rule.Match{Paths: []string{"/users/7/orders"}}, true},
		"path, variable":         {rule.Match{Paths: []string{"/users/{id}/orders"}}, true},
		"path, all variables":    {rule.Match{Paths: []string{"/{a}/{b}/{c}"}}, true},
		"path, below":            {rule.Match{Paths: []string{"/users/*"}}, true},
		"path, below a variable": {rule.Match{Paths: []string{"/users/{id}/*"}}, true},
		"path itself is below":   {rule.Match{Paths: []string{"/users/7/orders/*"}}, true},
		"path, everything":       {rule.Match{Paths: []string{"/*"}}, true},
		"path, parent only":      {rule.Match{Paths: []string{"/users"}}, false},
		"path, too deep":         {rule.Match{Paths: []string{"/users/{id}/orders/{order}"}}, false},
		"path, half a segment":   {rule.Match{Paths: []string{"/use/*"}}, false},
		"path, any of them":      {rule.Match{Paths: []string{"/x", "/users/{id}/orders"}}, true},
		"header":                 {rule.Match{Headers: map[string]string{"x-plan": "free"}}, true},
		"header, any value":      {rule.Match{Headers: map[string]string{"X-Plan": "*"}}, true},
		"header, another value":  {rule.Match{Headers: map[string]string{"X-Plan": "gold"}}, false},
		"header, missing":        {rule.Match{Headers: map[string]string{"X-Other": "*"}}, false},
		"address":                {rule.Match{IPs: []string{"192.0.2.7"}}, true},
		"prefix":                 {rule.Match{IPs: []string{"10.0.0.0/8", "192.0.0.0/16"}}, true},
		"all of IPv4":            {rule.Match{IPs: []string{"0.0.0.0/0"}}, true},
		"mapped prefix":          {rule.Match{IPs: []string{"::ffff:192.0.2.0/120"}}, true},
		"another prefix":         {rule.Match{IPs: []string{"::/0"}}, false},
		"attribute":              {rule.Match{Attributes: map[string]string{"region": "eu"}}, true},
		"attribute, any value":   {rule.Match{Attributes: map[string]string{"region": "*"}}, true},
		"attribute, other value": {rule.Match{Attributes: map[string]string{"region": "us"}}, false},
		"attribute, missing":     {rule.Match{Attributes: map[string]string{"zone": "*"}}, false},
		"all fields have to fit": {rule.Match{Methods: []string{"POST"}, Attributes: map[string]string{"region": "us"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Match: c.match}}})
			got := names(set, base)
			if (got == "r") != c.want {
				t.Errorf("matches %q, want %v", got, c.want)
			}
			if why := set.Explain(&base)[0]; why.Matches != c.want || why.Why == "" || why.Field == "" {
				t.Errorf("explained as %+v, want %v", why, c.want)
			}
		})
	}
}

// TestHead: what is for GET is for HEAD.
func TestHead(t *testing.T) {
	rules := []rule.Rule{
		{Name: "get", Match: rule.Match{Methods: []string{"POST", "GET"}}},
		{Name: "head", Match: rule.Match{Methods: []string{"HEAD"}}},
		{Name: "post", Match: rule.Match{Methods: []string{"POST"}}},
	}
	set := compiled(t, rule.Config{Rules: rules})
	for method, want := range map[string]string{"GET": "get", "HEAD": "get head", "POST": "get post"} {
		if got := names(set, rule.Request{Method: method}); got != want {
			t.Errorf("%s: got %q, want %q", method, got, want)
		}
	}
	if got := set.Rules()[0].Match.Methods; len(got) != 2 {
		t.Errorf("the rule has become %v", got)
	}
}

// TestHostWithADot: the index and the explanation agree on a host that begins with a
// dot.
func TestHostWithADot(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Match: rule.Match{Hosts: []string{"*.b.com"}}}}})
	r := rule.Request{Host: ".b.com"}
	if names(set, r) != "r" || !set.Explain(&r)[0].Matches {
		t.Errorf("matches %q, explained as %+v", names(set, r), set.Explain(&r)[0])
	}
}

// TestManyHeaders: rules by a thousand header fields, of which a request has few.
func TestManyHeaders(t *testing.T) {
	var config rule.Config
	for i := range 1000 {
		config.Rules = append(config.Rules, rule.Rule{
			Name: fmt.Sprint("r", i), Match: rule.Match{Headers: map[string]string{fmt.Sprint("X-", i): []string{"*", "1"}[i%2]}},
		})
	}
	set := compiled(t, config)
	header := http.Header{"X-7": {"1"}, "X-8": {"", "1"}, "X-9": {}, "X-10": {"2"}, "Accept": {"1"}}
	for name, h := range map[string]rule.Getter{"http.Header": header, "other": getter{header}} {
		if got := names(set, rule.Request{Header: h}); got != "r7 r10" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// getter hides what a header is.
type getter struct{ rule.Getter }

func TestMatchOrderAndAll(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{
		{Name: "ips", Match: rule.Match{IPs: []string{"192.0.2.0/24", "192.0.0.0/16"}}},
		{Name: "off", Mode: rule.Off},
		{Name: "all"},
		{Name: "paths", Match: rule.Match{Paths: []string{"/a/*", "/a/{x}", "/a/b"}}},
		{Name: "shadow", Mode: rule.Shadow},
		{Name: "method", Match: rule.Match{Methods: []string{"GET", "PUT"}}},
	}})
	r := rule.Request{Method: "GET", Path: "/a/b", IP: netip.MustParseAddr("::ffff:192.0.2.9")}
	if got, want := names(set, r), "ips all paths shadow method"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var m rule.Matches
	set.Match(&r, &m)
	for _, h := range m.Hits {
		if h.Enforced != (h.Rule.Name != "shadow") {
			t.Errorf("%s: enforced %v", h.Rule.Name, h.Enforced)
		}
		if h.Cost != 1 || h.Limits.Enforce[0] == nil || h.Limits.Enforce[1] != nil {
			t.Errorf("%s: cost %d, limits %+v", h.Rule.Name, h.Cost, h.Limits)
		}
	}
}

func TestMatchesIsReused(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"header:X-A"}, Missing: rule.MissingShared}}})
	var m rule.Matches
	for _, want := range []string{"one", "", "two"} {
		r := rule.Request{Header: http.Header{"X-A": {want}}}
		set.Match(&r, &m)
		if want == "" {
			want = "%-"
		}
		if got := m.Hits[0].KeyText(); got != "r|"+want {
			t.Errorf("got %q, want r|%s", got, want)
		}
	}
}

func TestSkip(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{
		Name: "r", Key: []string{"user", "method"},
		Skip: rule.Skip{
			IPs:     []string{"10.0.0.0/8", "2001:db8::/32"},
			Headers: map[string]string{"x-probe": "*"},
			Keys:    []rule.KeyValues{{"root", "*"}, {"bob", "GET"}},
		},
	}}})
	outside := netip.MustParseAddr("192.0.2.1")
	for name, c := range map[string]struct {
		r    rule.Request
		want string
	}{
		"nobody":       {rule.Request{IP: outside, User: "ann", Method: "GET"}, "r"},
		"address":      {rule.Request{IP: netip.MustParseAddr("10.1.2.3"), User: "ann", Method: "GET"}, ""},
		"IPv6":         {rule.Request{IP: netip.MustParseAddr("2001:db8::5"), User: "ann", Method: "GET"}, ""},
		"header":       {rule.Request{IP: outside, User: "ann", Method: "GET", Header: http.Header{"X-Probe": {"1"}}}, ""},
		"key":          {rule.Request{IP: outside, User: "bob", Method: "GET"}, ""},
		"half a key":   {rule.Request{IP: outside, User: "bob", Method: "PUT"}, "r"},
		"wildcard key": {rule.Request{IP: outside, User: "root", Method: "PUT"}, ""},
	} {
		if got := names(set, c.r); got != c.want {
			t.Errorf("%s: matches %q, want %q", name, got, c.want)
		}
		if why := set.Explain(&c.r)[0]; why.Matches != (c.want != "") || why.Why == "" {
			t.Errorf("%s: explained as %+v", name, why)
		}
	}
}

func TestMissing(t *testing.T) {
	rules := []rule.Rule{
		{Name: "skip", Key: []string{"user"}},
		{Name: "shared", Key: []string{"user"}, Missing: rule.MissingShared},
		{Name: "deny", Key: []string{"user"}, Missing: rule.MissingDeny},
	}
	set := compiled(t, rule.Config{Rules: rules})
	var m rule.Matches
	set.Match(&rule.Request{}, &m)
	if len(m.Hits) != 2 || m.Hits[0].Rule.Name != "shared" || m.Hits[0].Denied || m.Hits[1].Rule.Name != "deny" || !m.Hits[1].Denied || len(m.Hits[1].Key) != 0 {
		t.Errorf("got %+v", m.Hits)
	}
	set.Match(&rule.Request{User: "%-"}, &m)
	if len(m.Hits) != 3 || string(m.Hits[1].Key) == "shared|%-" || m.Hits[2].Denied {
		t.Errorf("a user named like a missing one: %+v", m.Hits)
	}
	var matches []bool
	for _, why := range set.Explain(&rule.Request{}) {
		matches = append(matches, why.Matches)
	}
	if !slices.Equal(matches, []bool{false, true, true}) {
		t.Errorf("explained as %v", matches)
	}
}

func TestConditions(t *testing.T) {
	conditions := rule.Conditions(func(text string) (func(*rule.Request) bool, error) {
		return func(r *rule.Request) bool { return r.User == text }, nil
	})
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Match: rule.Match{When: "ann"}}}}, conditions)
	if names(set, rule.Request{User: "ann"}) != "r" || names(set, rule.Request{User: "bob"}) != "" {
		t.Error("the condition does not decide")
	}
	if why := set.Explain(&rule.Request{User: "bob"})[0]; why.Field != "match.when" {
		t.Errorf("explained as %+v", why)
	}
}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

func TestMatchConcurrentSafe(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{
		{Name: "hashed", Key: []string{"user"}, Hash: true},
		{Name: "header", Key: []string{"header:X-A"}, Match: rule.Match{Paths: []string{"/a/{x}"}}},
	}}, rule.HashKey(make([]byte, 16)))
	want := map[string]string{}
	for _, user := range []string{"ann", "bob"} {
		want[user] = key(t, set, rule.Request{User: user})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var m rule.Matches
			for i := range 200 {
				user := []string{"ann", "bob"}[i%2]
				set.Match(&rule.Request{User: user, Path: "/a/" + user, Header: http.Header{"X-A": {user}}}, &m)
				if m.Hits[0].KeyText() != want[user] || m.Hits[1].KeyText() != "header|"+user {
					t.Errorf("%s has the keys %q and %q", user, m.Hits[0].Key, m.Hits[1].Key)
					return
				}
			}
		})
	}
	wg.Wait()
}
