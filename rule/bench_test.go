package rule_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// mixed returns n rules of all kinds, and a request that three of them match.
func mixed(n int) (rule.Config, rule.Request) {
	limits := []rule.Limit{{Limit: sluice.PerSecond(100)}}
	config := rule.Config{Rules: []rule.Rule{
		{Name: "login", Match: rule.Match{Methods: []string{"POST"}, Paths: []string{"/api/v1/login"}}, Key: []string{"ip"}, Limits: limits},
		{Name: "users", Match: rule.Match{Paths: []string{"/api/{version}/login"}}, Key: []string{"path:version", "user"}, Limits: limits},
		{Name: "tenant", Match: rule.Match{Attributes: map[string]string{"plan": "free"}}, Key: []string{"header:X-Api-Key"}, Limits: limits},
	}}
	for i := len(config.Rules); i < n; i++ {
		r := rule.Rule{Name: fmt.Sprintf("rule-%d", i), Key: []string{"ip"}, Limits: limits}
		switch i % 7 {
		case 0:
			r.Match.Paths = []string{fmt.Sprintf("/api/v1/things-%d", i)}
		case 1:
			r.Match.Paths = []string{fmt.Sprintf("/shop/%d/{item}/*", i)}
		case 2:
			r.Match.Hosts = []string{fmt.Sprintf("host-%d.example.com", i)}
		case 3:
			r.Match.Hosts = []string{fmt.Sprintf("*.zone-%d.example.com", i)}
		case 4:
			r.Match.Attributes = map[string]string{"plan": fmt.Sprintf("plan-%d", i)}
		case 5:
			r.Match.Headers = map[string]string{"X-Api-Key": fmt.Sprintf("key-%d", i)}
		case 6:
			r.Match.IPs = []string{fmt.Sprintf("10.%d.%d.0/24", i>>8&255, i&255)}
		}
		config.Rules = append(config.Rules, r)
	}
	return config, rule.Request{
		Method: "POST", Host: "api.example.com:443", Path: "/api/v1/login", IP: netip.MustParseAddr("203.0.113.7"), User: "ann",
		Header:     http.Header{"X-Api-Key": {"0123456789abcdef"}, "Cookie": {"a=b"}},
		Attributes: map[string]string{"plan": "free", "region": "eu"},
	}
}

func benchmarkMatch(b *testing.B, n int) {
	config, request := mixed(n)
	set, err := rule.Compile(config)
	if err != nil {
		b.Fatal(err)
	}
	var m rule.Matches
	b.ReportAllocs()
	for b.Loop() {
		set.Match(&request, &m)
	}
	if len(m.Hits) != 3 {
		b.Fatalf("%d hits, want 3", len(m.Hits))
	}
}

func BenchmarkMatch10(b *testing.B)    { benchmarkMatch(b, 10) }
func BenchmarkMatch1000(b *testing.B)  { benchmarkMatch(b, 1000) }
func BenchmarkMatch10000(b *testing.B) { benchmarkMatch(b, 10000) }

func BenchmarkCheck10000(b *testing.B) {
	config, _ := mixed(10000)
	for b.Loop() {
		if set, findings := rule.Examine(config); set == nil {
			b.Fatal(findings)
		}
	}
}

// BenchmarkMatchHeaders: rules by a thousand header fields, of which the request has
// one among twenty.
func BenchmarkMatchHeaders(b *testing.B) {
	var config rule.Config
	for i := range 1000 {
		config.Rules = append(config.Rules, rule.Rule{
			Name: fmt.Sprint("r", i), Match: rule.Match{Headers: map[string]string{fmt.Sprint("X-", i): "*"}}, Limits: tenPerSecond,
		})
	}
	header := http.Header{"X-7": {"1"}}
	for i := range 19 {
		header[fmt.Sprint("Other-", i)] = []string{"1"}
	}
	set, err := rule.Compile(config)
	if err != nil {
		b.Fatal(err)
	}
	request := rule.Request{Header: header}
	var m rule.Matches
	b.ReportAllocs()
	for b.Loop() {
		set.Match(&request, &m)
	}
	if len(m.Hits) != 1 {
		b.Fatalf("%d hits, want 1", len(m.Hits))
	}
}

// BenchmarkMatchAmbiguous: a path that is refused takes no longer with many rules.
func BenchmarkMatchAmbiguous(b *testing.B) {
	config, request := mixed(10000)
	request.Path = "/api/v1/login;x"
	set, err := rule.Compile(config)
	if err != nil {
		b.Fatal(err)
	}
	var m rule.Matches
	b.ReportAllocs()
	for b.Loop() {
		set.Match(&request, &m)
	}
	if !m.Ambiguous {
		b.Fatal("not refused")
	}
}
