package rule_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
)

// TestNoAllocations: finding rules and making keys takes no memory, whatever the key
// is made of.
func TestNoAllocations(t *testing.T) {
	many := func(one func(i byte) string) (list []string) {
		for i := range byte(20) {
			list = append(list, one(i))
		}
		return list
	}
	config := rule.Config{Rules: []rule.Rule{
		{
			Key:   []string{"ip", "user", "host", "method", "path", "path:id", "header:X-A", "cookie:sid", "query:q", "attribute:a", "const:c"},
			Match: rule.Match{Paths: []string{"/users/{id}/*"}}, Tag: "user",
		},
		{Key: []string{"user"}, Hash: true, Tag: "user"},
		{Key: []string{"attribute:long"}, Tag: "attribute:long"},
		{Key: []string{"user", "header:None"}, Missing: rule.MissingDeny},
		{Key: []string{"user", "header:None"}, Missing: rule.MissingShared, Rollout: "50%"},
		{Key: []string{"user"}, Skip: rule.Skip{IPs: many(func(i byte) string { return netip.AddrFrom4([4]byte{10, 0, 0, i}).String() }), Keys: []rule.KeyValues{{"bob"}}}},
		{Key: []string{"user", "ip"}, Overrides: []rule.Override{{Keys: []rule.KeyValues{{"*", "192.0.2.1"}, {"ann", "192.0.2.2"}}, Limits: tenPerSecond}}},
		{Match: rule.Match{
			Paths: append(many(func(i byte) string { return "/{x}/" + string('a'+rune(i)) }), "/users/{id}/orders"),
			Hosts: append(many(func(i byte) string { return string('a'+rune(i)) + ".com" }), "*.example.com"),
		}},
		{Match: rule.Match{Headers: map[string]string{"X-A": "*"}, Attributes: map[string]string{"a": "1"}}, Cost: rule.Cost{Header: "X-Cost", Bytes: 10, Max: 5}},
	}}
	set := compiled(t, config, rule.HashKey(make([]byte, 32)))
	r := rule.Request{
		Method: "PUT", Host: "api.example.com:80", Path: "/users/7/orders", Query: "q=a%20b", IP: netip.MustParseAddr("2001:db8::1"), User: "ann}|",
		Header:     http.Header{"X-A": {"1"}, "Cookie": {"a=b; sid=7"}, "X-Cost": {"3"}},
		Attributes: map[string]string{"a": "1", "long": string(make([]byte, 2000))},
	}
	var m rule.Matches
	set.Match(&r, &m)
	if len(m.Hits) != len(config.Rules) {
		t.Fatalf("%d hits, want %d", len(m.Hits), len(config.Rules))
	}
	if got := testing.AllocsPerRun(200, func() { set.Match(&r, &m) }); got > allocations {
		t.Errorf("%v allocations, want %v", got, allocations)
	}
}
