package rule_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/rule"
)

func TestCost(t *testing.T) {
	by := func(header string) rule.Request {
		return rule.Request{Method: "GET", Header: http.Header{"X-Cost": {header}}}
	}
	for _, c := range []struct {
		name string
		cost rule.Cost
		r    rule.Request
		want int64
	}{
		{"default", rule.Cost{}, rule.Request{}, 1},
		{"fixed", rule.Cost{Fixed: 5}, rule.Request{}, 5},
		{"method", rule.Cost{Fixed: 5, Methods: map[string]int64{"PUT": 3}}, rule.Request{Method: "PUT"}, 3},
		{"other method", rule.Cost{Fixed: 5, Methods: map[string]int64{"PUT": 3}}, rule.Request{Method: "GET"}, 5},
		{"bytes", rule.Cost{Bytes: 1000, Max: 9}, rule.Request{Length: 2001}, 3},
		{"bytes, even", rule.Cost{Bytes: 1000, Max: 9}, rule.Request{Length: 2000}, 2},
		{"bytes, one", rule.Cost{Bytes: 1000, Max: 9}, rule.Request{Length: 1}, 1},
		{"bytes, no body", rule.Cost{Fixed: 2, Bytes: 1000, Max: 9}, rule.Request{}, 2},
		{"bytes, unknown", rule.Cost{Bytes: 1000, Max: 9}, rule.Request{Length: -1}, 9},
		{"bytes, huge", rule.Cost{Bytes: 1, Max: 9}, rule.Request{Length: math.MaxInt64}, 9},
		{"header", rule.Cost{Header: "x-cost"}, by("7"), 7},
		{"header, clamped", rule.Cost{Header: "X-Cost", Max: 5}, by("7"), 5},
		{"header, zero", rule.Cost{Header: "X-Cost", Fixed: 2}, by("0"), 2},
		{"header, negative", rule.Cost{Header: "X-Cost"}, by("-4"), algo.MaxCount},
		{"header, negative, clamped", rule.Cost{Header: "X-Cost", Max: 9}, by("-4"), 9},
		{"header, far below", rule.Cost{Header: "X-Cost", Max: 9}, by("-99999999999999999999"), 9},
		{"header, malformed", rule.Cost{Header: "X-Cost", Fixed: 2}, by("7x"), 2},
		{"header, too large", rule.Cost{Header: "X-Cost", Max: 9}, by("1000000000000001"), 9},
		{"header, overflowing", rule.Cost{Header: "X-Cost", Fixed: 2}, by("99999999999999999999"), algo.MaxCount},
		{"header, overflowing, clamped", rule.Cost{Header: "X-Cost", Fixed: 2, Max: 9}, by("99999999999999999999"), 9},
		{"HEAD as GET", rule.Cost{Methods: map[string]int64{"GET": 4}}, rule.Request{Method: "HEAD"}, 4},
		{"HEAD by itself", rule.Cost{Methods: map[string]int64{"GET": 4, "HEAD": 2}}, rule.Request{Method: "HEAD"}, 2},
		{"negative by the caller", rule.Cost{}, rule.Request{Cost: -1}, -1},
		{"header, missing", rule.Cost{Header: "X-Cost", Methods: map[string]int64{"GET": 4}}, rule.Request{Method: "GET"}, 4},
		{"the caller decides", rule.Cost{Header: "X-Cost", Max: 5}, rule.Request{Cost: 70, Header: http.Header{"X-Cost": {"3"}}}, 70},
	} {
		set := compiled(t, rule.Config{Rules: []rule.Rule{{Cost: c.cost}}})
		var m rule.Matches
		set.Match(&c.r, &m)
		if m.Hits[0].Cost != c.want {
			t.Errorf("%s: %d, want %d", c.name, m.Hits[0].Cost, c.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	limit := func(name string) []rule.Limit { return []rule.Limit{{Name: name, Limit: sluice.PerSecond(10)}} }
	set := compiled(t, rule.Config{Rules: []rule.Rule{{
		Name: "r", Key: []string{"ip", "user"}, Missing: rule.MissingShared,
		Overrides: []rule.Override{
			{Keys: []rule.KeyValues{{"192.0.2.1", "ann"}, {"::ffff:192.0.2.2", "*"}}, Limits: limit("first")},
			{Keys: []rule.KeyValues{{"*", "ann"}, {"2001:db8::1", "bob|"}}, Limits: limit("second")},
			{Keys: []rule.KeyValues{{"192.0.2.3", "ann"}, {"192.0.2.3", "eve"}}, Limits: limit("third")},
		},
	}}})
	for _, c := range []struct{ ip, user, want string }{
		{"192.0.2.1", "ann", "first"},
		{"192.0.2.1", "bob", "r"},
		{"192.0.2.2", "bob", "first"},
		{"192.0.2.2", "", "first"},
		{"192.0.2.3", "ann", "second"},
		{"192.0.2.3", "eve", "third"},
		{"2001:db8::99", "bob|", "second"},
		{"2001:db8:1::", "bob|", "r"},
	} {
		var m rule.Matches
		r := rule.Request{IP: addr(c.ip), User: c.user}
		set.Match(&r, &m)
		if got := m.Hits[0].Limits.Names[0][0]; got != c.want {
			t.Errorf("%s %s: limits of %s, want %s", c.ip, c.user, got, c.want)
		}
	}
}

func TestRollout(t *testing.T) {
	const keys = 8000
	enforced := map[string]map[int]bool{}
	for _, share := range []string{"0%", "0.5%", "10%", "50%", "100%"} {
		set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"user"}, Rollout: share}}})
		enforced[share] = map[int]bool{}
		var m rule.Matches
		for i := range keys {
			set.Match(&rule.Request{User: fmt.Sprint("user-", i)}, &m)
			if m.Hits[0].Enforced {
				enforced[share][i] = true
			}
		}
	}
	for share, want := range map[string]float64{"0%": 0, "0.5%": 0.005, "10%": 0.1, "50%": 0.5, "100%": 1} {
		if got := float64(len(enforced[share])) / keys; math.Abs(got-want) > 0.015 {
			t.Errorf("%s: enforced for %.3f of the keys", share, got)
		}
	}
	for _, step := range [][2]string{{"0.5%", "10%"}, {"10%", "50%"}, {"50%", "100%"}} {
		for i := range enforced[step[0]] {
			if !enforced[step[1]][i] {
				t.Fatalf("key %d is enforced at %s and not at %s", i, step[0], step[1])
			}
		}
	}
	// All instances, of whatever version, have to agree on who is in.
	in := ""
	for i := range 100 {
		if enforced["10%"][i] {
			in += fmt.Sprint(i, " ")
		}
	}
	if want := "3 11 17 19 24 44 52 64 65 75 81 85 86 94 "; in != want {
		t.Errorf("of the first 100 keys these are in at 10%%: %q, want %q", in, want)
	}
}

func TestPlans(t *testing.T) {
	limit := func(text string, scope rule.Scope) rule.Limit {
		return rule.Limit{Limit: sluice.MustParse(text), Scope: scope}
	}
	r := rule.Rule{
		Name: "r", Scope: rule.Split,
		Limits:    []rule.Limit{limit("10/s", ""), limit("20/s", rule.Cluster), limit("30/s", rule.Instance), limit("40/s", rule.Split)},
		Candidate: []rule.Limit{limit("5/s", rule.Cluster)},
	}
	shapes := func(l *rule.Limits) string {
		var b strings.Builder
		for _, plans := range [][rule.Places]*sluice.Plan{l.Enforce, l.Candidate} {
			for scope, p := range plans {
				if p == nil {
					continue
				}
				for _, spec := range p.Specs() {
					fmt.Fprintf(&b, "%d:%d#%d ", scope, spec.Count, spec.Ordinal)
				}
			}
		}
		return b.String()
	}
	match := func(r rule.Rule) *rule.Limits {
		var m rule.Matches
		compiled(t, rule.Config{Rules: []rule.Rule{r}}).Match(&rule.Request{}, &m)
		return m.Hits[0].Limits
	}
	if got, want := shapes(match(r)), "0:20#0 1:30#3 2:10#1 2:40#2 0:5#4 "; got != want {
		t.Errorf("states %q, want %q", got, want)
	}
	r.Candidate = nil
	if got, want := shapes(match(r)), "0:20#0 1:30#3 2:10#1 2:40#2 "; got != want {
		t.Errorf("without the candidate: states %q, want %q", got, want)
	}
	for scope, want := range map[rule.Scope]int{rule.Cluster: 0, rule.Instance: 1, rule.Split: 2, "": 0} {
		if scope.Index() != want {
			t.Errorf("%q has the number %d", scope, scope.Index())
		}
	}
}

func TestFresh(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	config := rule.Config{Rules: []rule.Rule{
		{Name: "day", Key: []string{"user"}, Limits: []rule.Limit{{Limit: sluice.MustParse("10/d zone=Europe/Berlin")}}},
		{Name: "second"},
	}}
	set := compiled(t, config, rule.At(start))
	if !set.HasCalendar() || set.Fresh(start) != set || set.Fresh(start.Add(-20*time.Hour)) != set {
		t.Error("a set is laid out anew for nothing")
	}
	until := func(s *rule.Set) time.Time {
		var m rule.Matches
		s.Match(&rule.Request{User: "ann"}, &m)
		return m.Hits[0].Limits.Enforce[0].Until()
	}
	due := until(set)
	if set.Fresh(due.Add(-time.Microsecond)) != set {
		t.Error("laid out anew before it is due")
	}
	fresh := set.Fresh(due)
	if fresh == set || !until(fresh).After(due) || fresh.Rules()[0] != set.Rules()[0] {
		t.Errorf("due at %v: fresh until %v", due, until(fresh))
	}
	if back := fresh.Fresh(start); back == fresh || !until(back).Equal(due) {
		t.Error("a clock that went back is not followed")
	}
	plain := compiled(t, rule.Config{Rules: []rule.Rule{{}}})
	if plain.HasCalendar() || plain.Fresh(due) != plain {
		t.Error("a set without calendars is laid out anew")
	}
}

func TestAmbiguousPaths(t *testing.T) {
	odd := rule.Request{Path: "/a%2Flogin"}
	byPath := rule.Rule{Name: "path", Match: rule.Match{Paths: []string{"/a/login"}}}
	for name, c := range map[string]struct {
		config rule.Config
		want   string
	}{
		"refused":                  {rule.Config{Rules: []rule.Rule{byPath}}, "ambiguous"},
		"refused for a key":        {rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"path"}}}}, "ambiguous"},
		"no rule depends on paths": {rule.Config{Rules: []rule.Rule{{Name: "r"}}}, "r"},
		"decoded":                  {rule.Config{Rules: []rule.Rule{byPath}, Paths: rule.Paths{Ambiguous: "decode"}}, "path"},
		"only a rule that is off": {rule.Config{Rules: []rule.Rule{
			{Name: "r"}, {Name: "off", Mode: rule.Off, Match: rule.Match{Paths: []string{"/x"}}},
		}}, "r"},
	} {
		set := compiled(t, c.config)
		if got := names(set, odd); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if why := set.Explain(&odd)[0]; (why.Field == "paths.ambiguous") != (c.want == "ambiguous") {
			t.Errorf("%s: explained as %+v", name, why)
		}
	}
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "login", Match: rule.Match{Paths: []string{"/API/login"}}}}, Paths: rule.Paths{FoldCase: true}})
	if got := names(set, rule.Request{Path: "/api//v1/%2e%2e/LOGIN"}); got != "login" {
		t.Errorf("got %q", got)
	}
	if got := names(set, rule.Request{Method: "OPTIONS", Path: "*"}); got != "" {
		t.Errorf("the server as a whole matches %q", got)
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Name: "r", Scope: rule.Instance}}})
	r := set.Rules()[0]
	if r.Mode != rule.Enforce || r.Missing != rule.MissingSkip || r.OnStoreError != rule.ErrorLocal || r.Cost.Fixed != 1 ||
		r.Limits[0].Scope != rule.Instance || r.Limits[0].Name != "r" || r.Index != 0 {
		t.Errorf("got %+v", r.Rule)
	}
	if c := set.Config().Rules[0]; c.Mode != "" || c.Limits[0].Name != "" {
		t.Errorf("Config was changed: %+v", c)
	}
}

func TestSetIsImmutable(t *testing.T) {
	config, err := rule.ParseJSON([]byte(`{"rules": [{"name": "r", "match": {"methods": ["GET"]}, "key": ["user"], "limits": ["1/s"], "cost": {"methods": {"GET": 2}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	set := compiled(t, config)
	r := &config.Rules[0]
	r.Match.Methods[0], r.Cost.Methods["GET"], r.Key[0], r.Limits[0].Name = "PUT", 9, "ip", "other"
	set.Rules()[0] = nil
	got := set.Config()
	got.Rules[0].Key[0], got.Rules[0].Cost.Methods["GET"] = "ip", 9
	var m rule.Matches
	set.Match(&rule.Request{Method: "GET", User: "ann"}, &m)
	if len(m.Hits) != 1 || m.Hits[0].Cost != 2 || m.Hits[0].KeyText() != "r|ann" || set.Config().Rules[0].Key[0] != "user" || set.Rules()[0] == nil {
		t.Errorf("got %+v", m.Hits)
	}
}
