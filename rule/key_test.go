package rule_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// full is a request that has everything.
var full = rule.Request{
	Method: "GET", Host: "API.example.com:443", Path: "/users//7/orders/", Query: "a=1&us%65r=an+n%7C&user=bob&bad=%zz",
	IP: netip.MustParseAddr("2001:db8:1:2:3:4:5:6"), User: "ann",
	Header:     http.Header{"X-Api-Key": {"k1"}, "Cookie": {`a=1; sid="s 1"; sid=2; empty=`}},
	Attributes: map[string]string{"app": "shop"},
}

func TestKeyParts(t *testing.T) {
	for part, want := range map[string]string{
		"ip":                "2001:db8:1:2::/64",
		"ip/48":             "2001:db8:1::/48",
		"ip/128":            "2001:db8:1:2:3:4:5:6",
		"user":              "ann",
		"host":              "api.example.com",
		"method":            "GET",
		"path":              "/users/7/orders",
		"path:id":           "7",
		"header:x-api-key":  "k1",
		"header:X-Other":    "%-",
		"cookie:sid":        "s 1",
		"cookie:a":          "1",
		"cookie:empty":      "%-",
		"cookie:none":       "%-",
		"query:user":        "an n%7C",
		"query:bad":         "%-",
		"query:a":           "1",
		"query:none":        "%-",
		"attribute:app":     "shop",
		"attribute:none":    "%-",
		"const:all|of%them": "all%7Cof%25them",
	} {
		set := compiled(t, rule.Config{Rules: []rule.Rule{{
			Name: "r", Key: []string{part}, Missing: rule.MissingShared, Match: rule.Match{Paths: []string{"/users/{id}/*"}},
		}}})
		if got := key(t, set, full); got != "r|"+want {
			t.Errorf("%s: got %q, want %q", part, got, "r|"+want)
		}
	}
}

func TestKeyAddresses(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"ip"}, Missing: rule.MissingShared}}})
	for ip, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1%eth0": "192.0.2.1",
		"fe80::1%eth0": "fe80::/64", "2001:db8::ffff": "2001:db8::/64",
		"64:ff9b::192.0.2.1": "192.0.2.1", "64:ff9b::198.51.100.9": "198.51.100.9", "::1": "::1", "::192.0.2.7": "::c000:207",
	} {
		if got := key(t, set, rule.Request{IP: netip.MustParseAddr(ip)}); got != "r|"+want {
			t.Errorf("%s: got %q, want %q", ip, got, "r|"+want)
		}
	}
	if got := key(t, set, rule.Request{}); got != "r|%-" {
		t.Errorf("no address: got %q", got)
	}
}

func TestKeyVariableOfTheFirstPathThatFits(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{
		Name: "r", Key: []string{"path:x"}, Match: rule.Match{Paths: []string{"/a/{x}/c", "/{x}/b/c", "/{y}/{z}/{x}"}},
	}}})
	for path, want := range map[string]string{"/a/b/c": "r|b", "/q/b/c": "r|q", "/q/w/e": "r|e"} {
		if got := key(t, set, rule.Request{Path: path}); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestKeysShowWhatTheyAre: nothing in a key can forge what stands beside it in a log.
func TestKeysShowWhatTheyAre(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"user"}}}})
	for user, want := range map[string]string{
		"a\u0085b": "a%C2%85b", "a\u009bb": "a%C2%9Bb", "\u202eann": "%E2%80%AEann", "a\u2066b": "a%E2%81%A6b", "a\u200bb": "a%E2%80%8Bb",
		"a\u2028b": "a%E2%80%A8b", "a\ufeffb": "a%EF%BB%BFb", "é": "é", "日本": "日本", "a b": "a b", "\ufffd": "\ufffd",
	} {
		if got := key(t, set, rule.Request{User: user}); got != "r|"+want {
			t.Errorf("%q: got %q, want %q", user, got, "r|"+want)
		}
	}
}

func TestKeyWithoutParts(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "all/of.it"}}})
	if got := key(t, set, full); got != "all/of.it" {
		t.Errorf("got %q", got)
	}
}

func TestLongKeyIsHashed(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"user"}}}})
	longest := strings.Repeat("x", store.MaxKey-2)
	if got := key(t, set, rule.Request{User: longest}); got != "r|"+longest {
		t.Errorf("a key of %d bytes was hashed", store.MaxKey)
	}
	a, b := key(t, set, rule.Request{User: longest + "y"}), key(t, set, rule.Request{User: longest + "z"})
	if !strings.HasPrefix(a, "r|%sha256-") || len(a) != len("r|%sha256-")+64 || a == b {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestHashedKey(t *testing.T) {
	secret := []byte("0123456789abcdef")
	config := rule.Config{Rules: []rule.Rule{{
		Name: "r", Key: []string{"user", "method"}, Hash: true, Tag: "user",
		Skip:      rule.Skip{Keys: []rule.KeyValues{{"root", "*"}}},
		Overrides: []rule.Override{{Keys: []rule.KeyValues{{"bob", "GET"}}, Limits: []rule.Limit{{Name: "more", Limit: tenPerSecond[0].Limit}}}},
	}}}
	set := compiled(t, config, rule.HashKey(secret))
	sum := func(text string) string {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(text))
		return "%hmac-" + hex.EncodeToString(h.Sum(nil)[:16])
	}
	for range 3 { // hashes are used again
		if got, want := key(t, set, full), "{"+sum("ann")+"}r|"+sum("|ann|GET"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := names(set, rule.Request{User: "root", Method: "GET"}); got != "" {
		t.Errorf("root is not exempt: %q", got)
	}
	var m rule.Matches
	set.Match(&rule.Request{User: "bob", Method: "GET"}, &m)
	if m.Hits[0].Limits.Names[0][0] != "more" {
		t.Error("the override of a hashed key does not count")
	}
	if _, err := rule.Compile(config); err == nil || !strings.Contains(err.Error(), "HashKey") {
		t.Errorf("without a secret: %v", err)
	}
	if _, err := rule.Compile(config, rule.HashKey(secret[:15])); err == nil {
		t.Error("a secret of 15 bytes was taken")
	}
}

func TestTag(t *testing.T) {
	rules := []rule.Rule{
		{Name: "a", Key: []string{"attribute:tenant", "user"}, Tag: "attribute:tenant", Missing: rule.MissingShared},
		{Name: "b", Key: []string{"attribute:tenant"}, Tag: "attribute:tenant", Missing: rule.MissingShared},
	}
	set := compiled(t, rule.Config{Rules: rules})
	tags := map[string]string{}
	for _, tenant := range []string{"", "acme", "a}b", "}}", "{}", "a%7Db", "%-", "a|b", strings.Repeat("x", 2000), strings.Repeat("x", 1999) + "y"} {
		var m rule.Matches
		set.Match(&rule.Request{User: "ann", Attributes: map[string]string{"tenant": tenant}}, &m)
		a, b := rule.TagOf(m.Hits[0].KeyText()), rule.TagOf(m.Hits[1].KeyText())
		if a == "" || a != b || len(m.Hits[0].Key) > store.MaxKey {
			t.Errorf("tenant %.20q: tags %q and %q", tenant, a, b)
		}
		if other, ok := tags[a]; ok {
			t.Errorf("tenants %.20q and %.20q have one tag %q", tenant, other, a)
		}
		tags[a] = tenant
	}
	for key, want := range map[string]string{"": "", "r|x": "", "{": "", "{x": "", "{x}r": "x", "r|{x}": ""} {
		if got := rule.TagOf(key); got != want {
			t.Errorf("%q has the tag %q, want %q", key, got, want)
		}
	}
}

// TestKeysAreEqualIfAndOnlyIfPartsAre: random values of odd bytes.
func TestKeysAreEqualIfAndOnlyIfPartsAre(t *testing.T) {
	d := draw{algotest.Rand(algotest.Seed(t, 0), 0)}
	set := compiled(t, rule.Config{Rules: []rule.Rule{{
		Name: "r", Key: []string{"user", "header:X-A", "attribute:a"}, Missing: rule.MissingShared, Tag: "user",
	}}})
	text := func() string {
		s := ""
		for range d.IntN(4) {
			s += pick(d, "|", "%", "-", "%-", "7C", "}", "{", "\x00", "\xff", "é", "a", strings.Repeat("long", 300))
		}
		return s
	}
	seen := map[string][3]string{}
	for range algotest.Rounds(4000, 1_000_000) {
		parts := [3]string{text(), text(), text()}
		r := rule.Request{User: parts[0], Header: http.Header{"X-A": {parts[1]}}, Attributes: map[string]string{"a": parts[2]}}
		k := key(t, set, r)
		if old, ok := seen[k]; ok && old != parts {
			t.Fatalf("%q and %q share the key %q", old, parts, k)
		}
		if len(k) > store.MaxKey || rule.TagOf(k) == "" {
			t.Fatalf("%q has the key %q of %d bytes", parts, k, len(k))
		}
		seen[k] = parts
		if again := key(t, set, r); again != k {
			t.Fatalf("%q has the keys %q and %q", parts, k, again)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("ann", "k", "ann", "k", "a=1", "c=2")
	f.Add("a|b", "c", "a", "b|c", "user=%zz", `c="`)
	f.Add("%-", "", "", "%-", "us%65r=+", "c")
	set := compiled(f, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"user", "header:X-A", "query:user", "cookie:c"}, Missing: rule.MissingShared}}})
	f.Fuzz(func(t *testing.T, user1, header1, user2, header2, query, cookie string) {
		request := func(user, header string) rule.Request {
			return rule.Request{User: user, Query: query, Header: http.Header{"X-A": {header}, "Cookie": {cookie}}}
		}
		a, b := key(t, set, request(user1, header1)), key(t, set, request(user2, header2))
		if (a == b) != (user1 == user2 && header1 == header2) {
			t.Fatalf("keys %q and %q of %q, %q and %q, %q", a, b, user1, header1, user2, header2)
		}
		if bytes.ContainsAny([]byte(a), "\x00\n\x7f") || len(a) > store.MaxKey {
			t.Fatalf("key %q", a)
		}
	})
}
