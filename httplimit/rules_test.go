package httplimit_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

func limits(texts ...string) []rule.Limit {
	var all []rule.Limit
	for _, text := range texts {
		limit, err := rule.ParseLimit(text)
		if err != nil {
			panic(err)
		}
		all = append(all, rule.Limit{Limit: limit})
	}
	return all
}

func get(path string, header ...string) *http.Request {
	r := request("192.0.2.1:1", header...)
	r.URL.Path = path
	return r
}

// TestRules: what rules need of a request reaches them, and what they say the client.
func TestRules(t *testing.T) {
	e := newRules(t, rule.Config{Default: rule.Deny, Rules: []rule.Rule{
		{Name: "user", Match: rule.Match{Paths: []string{"/user"}}, Key: []string{"user"}, Limits: limits("1/h"), Headers: rule.HeadersLegacy},
		{Name: "plan", Match: rule.Match{Paths: []string{"/plan"}, Attributes: map[string]string{"plan": "free"}}, Limits: limits("1/h")},
		{Name: "key", Match: rule.Match{Paths: []string{"/key"}}, Key: []string{"header:X-Api-Key"}, Missing: rule.MissingDeny, Limits: limits("1/h")},
		{Name: "two", Match: rule.Match{Paths: []string{"/two"}}, Key: []string{"ip"}, Limits: limits("5/s", "fixed_window 2/h")},
		{Name: "ban", Match: rule.Match{Paths: []string{"/ban"}}, Limits: limits("0/s")},
		{
			Name: "special", Match: rule.Match{Paths: []string{"/special"}}, Key: []string{"user"}, Limits: limits("1/h"),
			Overrides: []rule.Override{{Keys: []rule.KeyValues{{"vip"}}, Limits: limits("100/h")}},
		},
		{Name: "cost", Match: rule.Match{Paths: []string{"/cost"}}, Limits: limits("10/h"), Cost: rule.Cost{Methods: map[string]int64{"GET": 4}}},
		{Name: "quiet", Match: rule.Match{Paths: []string{"/quiet"}}, Limits: limits("1/h"), Headers: rule.HeadersNone},
		{Name: "shadow", Match: rule.Match{Paths: []string{"/shadow"}}, Limits: limits("1/h"), Mode: rule.Shadow},
	}})
	h := httplimit.Rules(
		e,
		httplimit.User(func(r *http.Request) string { return r.Header.Get("X-User") }),
		httplimit.Attributes(func(r *http.Request) map[string]string { return map[string]string{"plan": r.Header.Get("X-Plan")} }),
	)(served)
	for _, c := range []struct {
		what string
		r    *http.Request
		code int
		told string // is part of it
	}{
		{"ann", get("/user", "X-User", "ann"), 200, "X-Ratelimit-Remaining: 0"},
		{"bob", get("/user", "X-User", "bob"), 200, "X-Ratelimit-Limit: 1"},
		{"ann again", get("/user", "X-User", "ann"), 429, "Retry-After: 3600"},
		{"free plan", get("/plan", "X-Plan", "free"), 200, `"plan";q=1;w=3600`},
		{"free plan again", get("/plan", "X-Plan", "free"), 429, `Ratelimit: "plan";r=0;t=3600`},
		{"no rule", get("/plan", "X-Plan", "paid"), 403, ""},
		{"no rule at all", get("/elsewhere"), 403, ""},
		{"with key", get("/key", "X-Api-Key", "k"), 200, ""},
		{"without key", get("/key"), 400, ""},
		{"ambiguous", get("/us%2fer"), 400, ""},
		{"two", get("/two"), 200, `Ratelimit: "two:fixed_window 2/h";r=1`},
		{"two again", get("/two"), 200, `Ratelimit-Policy: "two:5/s";q=5;w=1, "two:fixed_window 2/h";q=2;w=3600`},
		{"two, over", get("/two"), 429, `Ratelimit: "two:fixed_window 2/h";r=0`},
		{"ban", get("/ban"), 429, `Ratelimit: "ban";r=0 | Ratelimit-Policy: "ban";q=0;w=1`},
		{"special", get("/special", "X-User", "ann"), 200, `Ratelimit: "special";r=0;t=3600 | Ratelimit-Policy: "special";q=1;w=3600`},
		{"vip", get("/special", "X-User", "vip"), 200, `Ratelimit: "special";r=99;t=36 | Ratelimit-Policy: "special";q=100;w=3600`},
		{"cost", get("/cost"), 200, "r=6"},
		{"cost again", get("/cost"), 200, "r=2"},
		{"cost, over", get("/cost"), 429, "r=2"},
		{"quiet", get("/quiet"), 200, ""},
		{"quiet, over", get("/quiet"), 429, "Retry-After: 3600"},
		{"shadow", get("/shadow"), 200, ""},
		{"shadow, over", get("/shadow"), 200, ""},
	} {
		if strings.Contains(c.r.URL.Path, "%") {
			c.r.URL.RawPath, c.r.URL.Path = c.r.URL.Path, strings.ReplaceAll(c.r.URL.Path, "%2f", "/")
		}
		res := serve(h, c.r)
		wantStatus(t, c.what, res, c.code)
		if got := told(res); !strings.Contains(got, c.told) || c.told == "" && got != "" && c.what != "with key" {
			t.Errorf("%s: told %q, want %q", c.what, got, c.told)
		}
		if refused := c.code >= 400; refused && strings.Contains(body(t, res), "served") {
			t.Errorf("%s: served", c.what)
		}
	}
}

// TestRulesAreSwapped: headers are those of the rules in force.
func TestRulesAreSwapped(t *testing.T) {
	config := rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits("10/s")}}}
	e := newRules(t, config)
	h := httplimit.Rules(e)(served)
	for _, text := range []string{"10/s", "20/s", "30/s"} {
		config.Rules[0].Limits = limits(text)
		set, err := rule.Compile(config)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Swap(set); err != nil {
			t.Fatal(err)
		}
		if got := serve(h, get("/")).Header.Get("RateLimit-Policy"); got != `"all";q=`+text[:2]+`;w=1` {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestRulesWait: a rule with wait holds its requests.
func TestRulesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits("1/s"), Wait: rule.Duration(2 * time.Second)}}})
		codes, took := burst(httplimit.Rules(e)(served), 5)
		if codes[200] != 3 || codes[429] != 2 || took != 2*time.Second {
			t.Error(codes, took)
		}
	})
}

// TestRulesBehindProxies: rules get the same client as keys do, and costs of the caller.
func TestRulesBehindProxies(t *testing.T) {
	e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Key: []string{"ip"}, Limits: limits("10/h")}}})
	h := httplimit.Rules(e, httplimit.TrustProxies(prefixes(ownNets)...), httplimit.CostBy(func(*http.Request) int64 { return 10 }))(served)
	via := func(chain string) *http.Request { return request("10.0.0.1:1", xff, chain) }
	wantStatus(t, "first", serve(h, via("1.1.1.1, 203.0.113.7")), http.StatusOK)
	wantStatus(t, "the same one", serve(h, via("2.2.2.2, 203.0.113.7")), http.StatusTooManyRequests)
	wantStatus(t, "another", serve(h, via("203.0.113.8")), http.StatusOK)
	wantStatus(t, "IPv6", serve(h, via("2001:db8::1")), http.StatusOK)
	wantStatus(t, "its neighbour", serve(h, via("2001:db8::2")), http.StatusTooManyRequests)
	wantStatus(t, "no address", serve(h, request("@")), http.StatusOK)
	wantStatus(t, "nor here", serve(h, request("nonsense")), http.StatusTooManyRequests)
}

// TestRulesStoreDown: what the rule says for a store that is down is what happens.
func TestRulesStoreDown(t *testing.T) {
	for policy, code := range map[rule.OnStoreError]int{rule.ErrorLocal: 200, rule.ErrorAllow: 200, rule.ErrorDeny: 503} {
		set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits("10/h"), OnStoreError: policy}}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.New(set, brokenStore{errors.New("down")})
		if err != nil {
			t.Fatal(err)
		}
		res := serve(httplimit.Rules(e)(served), get("/"))
		wantStatus(t, string(policy), res, code)
		if blind := policy != rule.ErrorLocal; blind == (res.Header.Get("RateLimit") != "") || blind && strings.Contains(body(t, res), "violated") {
			t.Errorf("%s: nobody knows of the limit, or does: %v", policy, res.Header)
		}
		if retry := res.Header.Get("Retry-After"); (retry == "1") != (code == 503) {
			t.Errorf("%s: Retry-After: %q", policy, retry)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
