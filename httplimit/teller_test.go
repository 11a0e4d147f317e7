package httplimit_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// TestTeller: who makes decisions himself tells clients what the middleware would, in
// every dialect, whether the rule or the program names it.
func TestTeller(t *testing.T) {
	for _, dialect := range []rule.Headers{
		rule.HeadersDraft10, rule.HeadersDraft11, rule.HeadersDraft07, rule.HeadersDraft06, rule.HeadersLegacy, rule.HeadersNone,
	} {
		for _, own := range []rule.Headers{"", dialect} {
			fallback := dialect
			if own != "" {
				fallback = rule.HeadersDraft10 // the rule's own counts
			}
			synctest.Test(t, func(t *testing.T) { tellAndCompare(t, fallback, own) })
		}
	}
}

func tellAndCompare(t *testing.T, fallback, own rule.Headers) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{
			Name: "two", Headers: own, Key: []string{"ip"}, Match: rule.Match{Paths: []string{"/two"}},
			Limits: []rule.Limit{{Limit: sluice.MustParse("2/m burst=3")}, {Name: "h", Limit: sluice.MustParse("fixed_window 9/h")}},
		},
		{Name: "banned", Headers: own, Match: rule.Match{Paths: []string{"/banned"}}, Limits: []rule.Limit{{Limit: sluice.MustParse("0/m")}}},
		{
			Name: "keyed", Headers: own, Key: []string{"header:Key"}, Missing: rule.MissingDeny,
			Match: rule.Match{Paths: []string{"/keyed"}}, Limits: []rule.Limit{{Limit: sluice.PerMinute(1)}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := newEngine(t, set), newEngine(t, set)
	tell := httplimit.Teller(ours, fallback)
	h := httplimit.Rules(theirs, httplimit.Headers(fallback))(served)
	for _, path := range []string{"/two", "/two", "/two", "/two", "/banned", "/keyed", "/free"} {
		r := request("192.0.2.1:1")
		r.URL.Path = path
		want := told(serve(h, r))
		d, err := ours.Check(t.Context(), engine.Request{Method: r.Method, Path: path, IP: httplimit.ClientAddress()(r)})
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		tell(header, d)
		if got := told(&http.Response{Header: header}); got != want {
			t.Errorf("%q, rule %q, %s:\n%s, want\n%s", fallback, own, path, got, want)
		}
	}
}

func newEngine(t *testing.T, set *rule.Set) *engine.Engine {
	t.Helper()
	e, err := engine.New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestTellerAdds: what another limiter has told stays.
func TestTellerAdds(t *testing.T) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "all", Limits: []rule.Limit{{Limit: sluice.PerSecond(10)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, set)
	d, err := e.Check(t.Context(), engine.Request{Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Ratelimit": {`"outer";r=1;t=1`}}
	httplimit.Teller(e, rule.HeadersDraft10)(header, d)
	if got := told(&http.Response{Header: header}); got != `Ratelimit: "outer";r=1;t=1 | Ratelimit: "all";r=9;t=1 | Ratelimit-Policy: "all";q=10;w=1` {
		t.Error(got)
	}
}

// TestTellerPanics: what is wrong is said when the program starts.
func TestTellerPanics(t *testing.T) {
	set, err := rule.Compile(rule.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, set)
	for what, make := range map[string]func(){
		"no engine":  func() { httplimit.Teller(nil, rule.HeadersNone) },
		"no dialect": func() { httplimit.Teller(e, "draft-99") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(what, "is taken")
				}
			}()
			make()
		}()
	}
}
