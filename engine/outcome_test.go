package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// whys is an observer that remembers why each rule did not allow the last request.
type whys struct{ last []string }

func (w *whys) Observe(e *engine.Event) {
	w.last = nil
	for i := range e.Outcomes {
		o := &e.Outcomes[i]
		w.last = append(w.last, fmt.Sprintf("%s: %s %s %v", o.Rule.Name, o.Limit(), o.Reason(), o.RetryAfter()))
	}
}

// named makes limits with names: "burst 10/s".
func named(texts ...string) []rule.Limit {
	var all []rule.Limit
	for i := 0; i < len(texts); i += 2 {
		l := limits(texts[i+1])[0]
		l.Name = texts[i]
		all = append(all, l)
	}
	return all
}

// TestOutcomeSaysWhy: of every rule that does not allow, enforced or not, an observer
// learns by which limit, why and until when, and Recent keeps it.
func TestOutcomeSaysWhy(t *testing.T) {
	soft := rule.Rule{Name: "soft", Key: []string{"user"}, Mode: rule.Shadow}
	soft.Limits = named("near", "instance: fixed_window 2/m", "log", "sliding_log 1/s", "hour", "sliding_log 1/h")
	both := rule.Rule{Name: "both", Key: []string{"user"}, Mode: rule.Shadow}
	both.Limits = named("day", "instance: fixed_window 1/24h", "second", "fixed_window 1/s")
	lost := rule.Rule{Name: "lost", Key: []string{"header:X-App"}, Missing: rule.MissingDeny, Mode: rule.Shadow, Limits: limits("1/m")}
	seen := &whys{}
	clock := newHands()
	e := open(t, compile(t, perUser("hard", "fixed_window 3/m"), soft, both, lost), nil, engine.WithClock(clock.Now), engine.WithObserver(seen))
	for i, want := range [][]string{
		{"hard:   0s", "soft:   0s", "both:   0s", "lost:  missing_key 0s"},
		{"hard:   0s", "soft: hour limited 1h0m0s", "both: day limited 24h0m0s", "lost:  missing_key 0s"},
		{"hard:   0s", "soft: hour limited 1h0m0s", "both: day limited 24h0m0s", "lost:  missing_key 0s"},
		{"hard: hard limited 1m0s", "soft: hour limited 1h0m0s", "both: day limited 24h0m0s", "lost:  missing_key 0s"},
	} {
		check(t, e, from("ann"))
		if !slices.Equal(seen.last, want) {
			t.Errorf("request %d: %q, want %q", i, seen.last, want)
		}
	}
	var got []string
	for _, r := range e.Recent(4) {
		got = append(got, fmt.Sprint(r.Rule, " ", r.Limit, " ", r.Reason, " ", r.RetryAfter, " ", r.Shadow))
	}
	want := []string{"hard hard limited 1m0s false", "lost  missing_key 0s true", "both day limited 24h0m0s true", "soft hour limited 1h0m0s true"}
	if !slices.Equal(got, want) {
		t.Errorf("recent %q, want %q", got, want)
	}
}

// TestLimitNames: the limit that bound has the name that it was given, also among equal
// ones and among logs, which are asked as one.
func TestLimitNames(t *testing.T) {
	r := rule.Rule{Name: "r", Key: []string{"user"}}
	r.Limits = named("one", "sliding_log 2/s", "two", "5/h", "three", "5/h", "four", "sliding_log 4/h")
	clock := newHands()
	e := open(t, compile(t, r), nil, engine.WithClock(clock.Now))
	expect(t, check(t, e, from("ann")), "allowed by r/one left 1")
	check(t, e, from("ann"))
	expect(t, check(t, e, from("ann")), "denied limited by r/one left 0 retry 1s")
	clock.move(time.Second)
	check(t, e, from("ann"))
	clock.move(time.Second)
	expect(t, check(t, e, from("ann")), "allowed by r/four left 0")
	expect(t, check(t, e, from("ann")), "denied limited by r/four left 0 retry 59m58s")
}

// TestSparedIsKept: under ShadowAll, Recent tells why a request without a rule would
// have been refused.
func TestSparedIsKept(t *testing.T) {
	set := compileConfig(t, rule.Config{Default: rule.Deny, Rules: []rule.Rule{{
		Name: "a", Match: rule.Match{Paths: []string{"/a"}}, Limits: limits("1/m"),
	}}})
	e := open(t, set, nil, engine.WithClock(newHands().Now))
	e.ShadowAll(true)
	r := from("ann")
	check(t, e, r)
	r.Path = "/a%2fb"
	check(t, e, r)
	got := e.Recent(2)
	if len(got) != 2 || got[0].Reason != sluice.Ambiguous || got[1].Reason != sluice.NoRule || !got[0].Shadow {
		t.Errorf("recent %+v", got)
	}
}
