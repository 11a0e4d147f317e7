package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestCheck: rules in tables, each step one request after some time.
func TestCheck(t *testing.T) {
	ann := from("ann")
	type step struct {
		after time.Duration
		r     engine.Request
		want  string
	}
	named := perUser("named", "2/m", "fixed_window 3/h")
	named.Limits[0].Name, named.Limits[1].Name = "minute", "hour"
	logs := perUser("logs", "sliding_log 2/s", "sliding_log 3/m")
	logs.Limits[0].Name, logs.Limits[1].Name = "second", "minute"
	dear := perUser("dear", "10/m")
	dear.Cost.Fixed = 11
	needy := perUser("needy", "1/m")
	needy.Missing = rule.MissingDeny
	for _, c := range []struct {
		name  string
		conf  rule.Config
		steps []step
	}{
		{"one limit", rule.Config{Rules: []rule.Rule{perUser("a", "2/m")}}, []step{
			{0, ann, "allowed by a left 1"},
			{0, ann, "allowed by a left 0"},
			{0, from("bob"), "allowed by a left 1"},
			{10 * time.Second, ann, "denied limited by a left 0 retry 20s"},
			{20 * time.Second, ann, "allowed by a left 0"},
		}},
		{"least left speaks", rule.Config{Rules: []rule.Rule{perUser("a", "3/m"), perUser("b", "2/m")}}, []step{
			{0, ann, "allowed by b left 1"},
		}},
		{"longest denial speaks, and nothing is spent", rule.Config{Rules: []rule.Rule{perUser("a", "10/m"), perUser("b", "1/m"), perUser("c", "1/h")}}, []step{
			{0, ann, "allowed by b left 0"},
			{0, ann, "denied limited by c left 0 retry 1h0m0s"},
			{time.Minute, ann, "denied limited by c left 0 retry 59m0s"},
			{0, ann, "denied limited by c left 0 retry 59m0s"},
			{59 * time.Minute, ann, "allowed by b left 0"},
		}},
		{"limits have names", rule.Config{Rules: []rule.Rule{named}}, []step{
			{0, ann, "allowed by named/minute left 1"},
			{0, ann, "allowed by named/minute left 0"},
			{time.Minute, ann, "allowed by named/hour left 0"},
			{time.Minute, ann, "denied limited by named/hour left 0 retry 58m0s"},
		}},
		{"so have those of one log", rule.Config{Rules: []rule.Rule{logs}}, []step{
			{0, ann, "allowed by logs/second left 1"},
			{0, ann, "allowed by logs/second left 0"},
			{time.Second, ann, "allowed by logs/minute left 0"},
			{time.Second, ann, "denied limited by logs/minute left 0 retry 58s"},
		}},
		{"never", rule.Config{Rules: []rule.Rule{dear}}, []step{{0, ann, "denied never by dear"}}},
		{"banned", rule.Config{Rules: []rule.Rule{perUser("a", "0/s")}}, []step{{0, ann, "denied banned by a"}}},
		{"unlimited", rule.Config{Rules: []rule.Rule{perUser("a", "unlimited")}}, []step{
			{0, ann, "allowed by a left 1000000000000000"},
		}},
		{"no rule", rule.Config{}, []step{{0, ann, "allowed"}}},
		{"no rule, denied", rule.Config{Default: rule.Deny}, []step{{0, ann, "denied no_rule"}}},
		{"off is no rule", rule.Config{Default: rule.Deny, Rules: []rule.Rule{mode(perUser("a", "1/m"), rule.Off)}}, []step{
			{0, ann, "denied no_rule"},
		}},
		{"shadow is one", rule.Config{Default: rule.Deny, Rules: []rule.Rule{mode(perUser("a", "1/m"), rule.Shadow)}}, []step{
			{0, ann, "allowed"},
			{0, ann, "allowed shadow"},
		}},
		{"key is missing", rule.Config{Rules: []rule.Rule{perUser("a", "1/m"), needy}}, []step{
			{0, from(""), "denied missing_key by needy"},
			{0, ann, "allowed by a left 0"},
		}},
		{"key is missing, shadow", rule.Config{Rules: []rule.Rule{mode(needy, rule.Shadow)}}, []step{
			{0, from(""), "allowed shadow"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newHands()
			e := open(t, compileConfig(t, c.conf), nil, engine.WithClock(clock.Now))
			for i, s := range c.steps {
				clock.move(s.after)
				if got := said(check(t, e, s.r)); got != s.want {
					t.Errorf("step %d: got  %s\nwant %s", i, got, s.want)
				}
			}
		})
	}
}

func mode(r rule.Rule, m rule.Mode) rule.Rule {
	r.Mode = m
	return r
}

// TestAmbiguous: a path that can be read in two ways is refused by a rule that depends
// on the path.
func TestAmbiguous(t *testing.T) {
	login := perUser("login", "1/m")
	login.Match.Paths = []string{"/login"}
	e := open(t, compile(t, login), nil)
	r := from("ann")
	r.Path = "/a%2flogin"
	expect(t, check(t, e, r), "denied ambiguous by login")
	e.ShadowAll(true)
	expect(t, check(t, e, r), "allowed shadow")
}

// TestAmbiguousInShadow: a rule that is not enforced refuses nothing, and tells what it
// would refuse; those that do not depend on the path decide as always.
func TestAmbiguousInShadow(t *testing.T) {
	login := perUser("login", "1/m")
	login.Match.Paths, login.Mode = []string{"/login"}, rule.Shadow
	elsewhere := perUser("elsewhere", "1/m")
	elsewhere.Match.Paths, elsewhere.Match.Hosts = []string{"/login"}, []string{"other.example"}
	e := open(t, compile(t, login, elsewhere, perUser("all", "2/m")), nil)
	r := from("ann")
	r.Path = "/app/page;jsessionid=1"
	expect(t, check(t, e, r), "allowed by all left 1 shadow")
	recent := e.Recent(1)
	if len(recent) != 1 || recent[0].Rule != "login" || recent[0].Reason != sluice.Ambiguous || !recent[0].Shadow {
		t.Errorf("recent %+v", recent)
	}
	for _, s := range e.Stats().Rules {
		if want := map[string]int64{"login": 1}[s.Rule]; int64(s.ShadowDenied) != want || s.Denied != 0 {
			t.Errorf("%+v, want %d denied in shadow", s, want)
		}
	}
	x, err := e.Explain(t.Context(), r)
	if err != nil || !x.Decision.Allowed || !strings.Contains(x.Rules[0].Why, "would deny if it were enforced") || x.Rules[1].Matches {
		t.Errorf("explained as %+v, %v", x, err)
	}
	r.Host = "other.example"
	expect(t, check(t, e, r), "denied ambiguous by elsewhere")
	r.Host = "example.com"
	e = open(t, compileConfig(t, rule.Config{Default: rule.Deny, Rules: []rule.Rule{login}}), nil)
	expect(t, check(t, e, r), "denied no_rule")
}

// TestFaults: what is wrong with a request is an error that names the rule.
func TestFaults(t *testing.T) {
	e := open(t, compile(t, perUser("a", "10/s")), nil)
	r := from("ann")
	r.Cost = 2e15
	_, err := e.Check(t.Context(), r)
	if !errors.Is(err, sluice.ErrCost) || !strings.HasPrefix(err.Error(), "engine: check: rule a: ") {
		t.Errorf("error %v", err)
	}
	r.Cost = -1
	for name, set := range map[string]*rule.Set{
		"a rule": compile(t, perUser("a", "10/s")),
		"none":   compile(t, perUser("a", "unlimited")),
	} {
		e := open(t, set, nil)
		if _, err := e.Check(t.Context(), r); !errors.Is(err, sluice.ErrCost) {
			t.Errorf("negative, %s: error %v", name, err)
		}
		if _, err := e.Explain(t.Context(), r); !errors.Is(err, sluice.ErrCost) {
			t.Errorf("negative, %s: explained, error %v", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := engine.New(nil, nil); !errors.Is(err, engine.ErrNoSet) {
		t.Errorf("no set: %v", err)
	}
	candidate := perUser("c", "10/s")
	candidate.Candidate = limits("split: 5/s")
	whole := perUser("r", "10/s")
	whole.Scope = rule.Split
	override := perUser("o", "10/s")
	override.Overrides = []rule.Override{{Keys: []rule.KeyValues{{"ann"}}, Limits: limits("split: 100/s")}}
	plain := compile(t, perUser("p", "10/s"))
	for _, r := range []rule.Rule{perUser("l", "split: 10/s"), candidate, whole, override} {
		_, err := engine.New(compile(t, r), nil)
		if !errors.Is(err, engine.ErrInstance) || !strings.Contains(err.Error(), `"`+r.Name+`"`) {
			t.Errorf("%s: error %v", r.Name, err)
		}
		e := open(t, plain, nil)
		if err := e.Swap(compile(t, r)); !errors.Is(err, engine.ErrInstance) || e.Set() != plain {
			t.Errorf("%s: swapped, error %v", r.Name, err)
		}
	}
}

// TestGivenMemory: with a store of this process, the engine goes by its clock.
func TestGivenMemory(t *testing.T) {
	clock := newHands()
	e := open(t, compile(t, perUser("a", "1/d zone=Europe/Berlin", "instance: fixed_window 2/m")), memstore.New(memstore.WithClock(clock.Now)))
	expect(t, check(t, e, from("ann")), "allowed by a left 0")
	clock.move(23 * time.Hour) // there a day begins an hour earlier
	expect(t, check(t, e, from("ann")), "allowed by a left 0")
	expect(t, check(t, e, from("ann")), "denied limited by a left 0 retry 24h0m0s")
}
