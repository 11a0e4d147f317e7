package rule_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/rule"
)

// TestAmbiguousByRule: of the rules that depend on the path, those decide that would
// apply but for it.
func TestAmbiguousByRule(t *testing.T) {
	odd := rule.Request{
		Method: "GET", Host: "a.com", Path: "/app/page;jsessionid=1", IP: addr("192.0.2.1"), User: "ann",
		Header: http.Header{"X-A": {"1"}}, Attributes: map[string]string{"plan": "free"},
	}
	paths := []string{"/login"}
	for name, c := range map[string]struct {
		rule rule.Rule
		want string // refused, reported or nothing
	}{
		"enforced":              {rule.Rule{Match: rule.Match{Paths: paths}}, "refused"},
		"shadow":                {rule.Rule{Match: rule.Match{Paths: paths}, Mode: rule.Shadow}, "reported"},
		"off":                   {rule.Rule{Match: rule.Match{Paths: paths}, Mode: rule.Off}, ""},
		"another host":          {rule.Rule{Match: rule.Match{Paths: paths, Hosts: []string{"b.com"}}}, ""},
		"this host":             {rule.Rule{Match: rule.Match{Paths: paths, Hosts: []string{"a.com"}}}, "refused"},
		"another method":        {rule.Rule{Match: rule.Match{Paths: paths, Methods: []string{"POST"}}}, ""},
		"another address":       {rule.Rule{Match: rule.Match{Paths: paths, IPs: []string{"10.0.0.0/8"}}}, ""},
		"another header":        {rule.Rule{Match: rule.Match{Paths: paths, Headers: map[string]string{"X-A": "2"}}}, ""},
		"another attribute":     {rule.Rule{Match: rule.Match{Paths: paths, Attributes: map[string]string{"plan": "gold"}}}, ""},
		"this attribute":        {rule.Rule{Match: rule.Match{Paths: paths, Attributes: map[string]string{"plan": "free"}}}, "refused"},
		"exempt by address":     {rule.Rule{Match: rule.Match{Paths: paths}, Skip: rule.Skip{IPs: []string{"192.0.2.0/24"}}}, ""},
		"exempt by header":      {rule.Rule{Match: rule.Match{Paths: paths}, Skip: rule.Skip{Headers: map[string]string{"X-A": "*"}}}, ""},
		"exempt by key":         {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"user"}, Skip: rule.Skip{Keys: []rule.KeyValues{{"ann"}}}}, ""},
		"another key is exempt": {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"user"}, Skip: rule.Skip{Keys: []rule.KeyValues{{"bob"}}}}, "refused"},
		"exempt on any path":    {rule.Rule{Key: []string{"path", "user"}, Skip: rule.Skip{Keys: []rule.KeyValues{{"*", "ann"}}}}, ""},
		"exempt on some path":   {rule.Rule{Key: []string{"path", "user"}, Skip: rule.Skip{Keys: []rule.KeyValues{{"/login", "ann"}}}}, "refused"},
		"key by path":           {rule.Rule{Key: []string{"path"}}, "refused"},
		"key by variable":       {rule.Rule{Match: rule.Match{Paths: []string{"/{a}/{b}/{c}"}}, Key: []string{"path:c"}}, "refused"},
		"key is missing":        {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"header:X-B"}}, ""},
		"key must not miss":     {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"header:X-B"}, Missing: rule.MissingDeny}, "refused"},
		"rollout 0%":            {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"user"}, Rollout: "0%"}, "reported"},
		"rollout 100%":          {rule.Rule{Match: rule.Match{Paths: paths}, Key: []string{"user"}, Rollout: "100%"}, "refused"},
		"rollout of paths":      {rule.Rule{Key: []string{"path"}, Rollout: "99%"}, "reported"},
		"all paths":             {rule.Rule{Match: rule.Match{Paths: []string{"/*"}}}, "applies"},
		"no path":               {rule.Rule{}, "applies"},
		"when by path":          {rule.Rule{Match: rule.Match{When: "/login is the path"}}, "refused"},
		"when by something":     {rule.Rule{Match: rule.Match{When: "ann"}}, "applies"},
		"when of others":        {rule.Rule{Match: rule.Match{When: "bob", Paths: paths}}, ""},
	} {
		set := compiled(t, rule.Config{Rules: []rule.Rule{c.rule}}, rule.Conditions(func(text string) (func(*rule.Request) bool, error) {
			return func(r *rule.Request) bool { return r.User == text }, nil
		}))
		var m rule.Matches
		for range 2 { // the second time nothing is left over
			set.Match(&odd, &m)
			if got := outcome(&m); got != c.want {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
		why := set.Explain(&odd)[0]
		if why.Matches != (c.want != "") || (why.Field == "paths.ambiguous") != (c.want == "refused" || c.want == "reported") || why.Why == "" {
			t.Errorf("%s: explained as %+v", name, why)
		}
	}
}

// outcome says what became of the only rule.
func outcome(m *rule.Matches) string {
	switch {
	case len(m.Hits) == 0 && !m.Ambiguous:
		return ""
	case len(m.Hits) != 1 || m.Hits[0].Limits == nil || m.Hits[0].Cost != 1:
		return fmt.Sprintf("%+v", m.Hits)
	}
	switch h := m.Hits[0]; {
	case m.Ambiguous && h.Enforced && h.Denied && h.Ambiguous:
		return "refused"
	case !m.Ambiguous && !h.Enforced && h.Denied && h.Ambiguous && len(h.Key) == 0:
		return "reported"
	case !m.Ambiguous && !h.Denied && !h.Ambiguous:
		return "applies"
	}
	return fmt.Sprintf("%+v", m.Hits)
}

// TestAmbiguousBesideOthers: rules that do not refuse stand beside those that apply as
// always, in their order; one that refuses stands alone.
func TestAmbiguousBesideOthers(t *testing.T) {
	rules := []rule.Rule{
		{Name: "shadow", Match: rule.Match{Paths: []string{"/a/*"}}, Mode: rule.Shadow},
		{Name: "user", Key: []string{"user"}},
		{Name: "elsewhere", Match: rule.Match{Paths: []string{"/a/*"}, Hosts: []string{"b.com"}}},
		{Name: "get", Match: rule.Match{Methods: []string{"GET"}}},
		{Name: "path", Key: []string{"path"}, Mode: rule.Shadow},
	}
	odd := rule.Request{Method: "GET", Host: "a.com", Path: "/a/b;c", User: "ann"}
	set := compiled(t, rule.Config{Rules: rules})
	if got := names(set, odd); got != "shadow user get path" {
		t.Errorf("got %q", got)
	}
	odd.Host = "b.com"
	var m rule.Matches
	if set.Match(&odd, &m); !m.Ambiguous || len(m.Hits) != 1 || m.Hits[0].Rule.Name != "elsewhere" || m.Path != "/a/b;c" {
		t.Errorf("got %+v", m.Hits)
	}
	set.Match(&rule.Request{Method: "GET", Host: "b.com", Path: "/a/b", User: "ann"}, &m)
	if m.Ambiguous || len(m.Hits) != 5 {
		t.Errorf("the next request: %+v", m.Hits)
	}
}

// TestConditionSeesCanonicalPath: no spelling of a path is a way round an expression,
// and addresses are what rules take them for.
func TestConditionSeesCanonicalPath(t *testing.T) {
	var seen []string
	set := compiled(t, rule.Config{Rules: []rule.Rule{{Match: rule.Match{When: "the path"}}}}, rule.Conditions(func(string) (func(*rule.Request) bool, error) {
		return func(r *rule.Request) bool {
			seen = append(seen, r.Path+" "+r.IP.String()+" "+r.User)
			return true
		}, nil
	}))
	var m rule.Matches
	for _, path := range []string{"/a//%62/", "/c/../d"} {
		r := rule.Request{Path: path, IP: addr("::ffff:192.0.2.1"), User: "ann"}
		if set.Match(&r, &m); r.Path != path {
			t.Error("the caller's request was changed")
		}
	}
	if got := strings.Join(seen, ", "); got != "/a/b 192.0.2.1 ann, /d 192.0.2.1 ann" {
		t.Errorf("got %q", got)
	}
}

// TestAmbiguousAgainstExplain: the index for ambiguous paths finds what trying every
// rule finds.
func TestAmbiguousAgainstExplain(t *testing.T) {
	seed := algotest.Seed(t, 0)
	refused := 0
	for round := range algotest.Rounds(40, 5000) {
		d := draw{algotest.Rand(seed, uint64(round))}
		config := d.rules(1 + d.IntN(pick(d, 5, 50)))
		set := compiled(t, config)
		var m rule.Matches
		for range 40 {
			r := d.request()
			r.Path += ";x"
			var all, enforced []string
			for _, why := range set.Explain(&r) {
				if why.Matches {
					all = append(all, why.Rule.Name)
				}
				if why.Matches && why.Field == "paths.ambiguous" && why.Rule.Mode == rule.Enforce {
					enforced = append(enforced, why.Rule.Name)
				}
			}
			set.Match(&r, &m)
			if m.Ambiguous {
				refused++
				if len(m.Hits) != 1 || !slices.Contains(enforced, m.Hits[0].Rule.Name) {
					t.Fatalf("round %d: %+v is refused by %+v, want one of %v", round, r, m.Hits, enforced)
				}
			} else if got := names(set, r); len(enforced) > 0 || got != strings.Join(all, " ") {
				t.Fatalf("round %d: %+v\nmatches   %s\nexplained %v, of which %v refuse", round, r, got, all, enforced)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
