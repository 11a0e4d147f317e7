package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/split"
)

// states tells of all limits in an explanation, one per line.
func states(x *engine.Explanation) string {
	var b strings.Builder
	for _, r := range x.Rules {
		fmt.Fprintf(&b, "%s matches=%v mode=%s key=%q cost=%d\n", r.Rule, r.Matches, r.Mode, r.Key, r.Cost)
		for _, l := range r.Limits {
			fmt.Fprintf(&b, "  %q %v %s", l.Name, l.Limit, l.Scope)
			if l.Candidate {
				b.WriteString(" candidate")
			}
			fmt.Fprintf(&b, ": allowed=%v %s left=%d retry=%v reset=%v wait=%v\n", l.Allowed, l.Reason, l.Remaining, l.RetryAfter, l.ResetAfter, l.Wait)
		}
	}
	return b.String()
}

// TestExplain tells everything of every rule, and why others do not match.
func TestExplain(t *testing.T) {
	login := perUser("login", "1/m")
	login.Match.Paths = []string{"/login"}
	logs := perUser("logs", "sliding_log 1/s", "fixed_window 10/h", "sliding_log 5/m")
	logs.Limits[0].Name = "second"
	missing := rule.Rule{Name: "missing", Key: []string{"header:X-Key"}, Missing: rule.MissingDeny, Mode: rule.Shadow, Limits: limits("1/s")}
	out := perUser("out", "1/m", "instance: leaky_bucket 1/s burst=3")
	out.Rollout, out.Wait = "0%", rule.Duration(5*time.Second)
	clock := newHands()
	e := open(t, compile(t,
		withCandidate(perUser("a", "5/m", "0/s"), "2/m"), login, logs, missing, out, mode(perUser("off", "1/m"), rule.Off),
	), nil, engine.WithClock(clock.Now))
	r := from("ann")
	r.Path, r.Cost = "/x//y/../z", 2
	x, err := e.Explain(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if x.Path != "/x/z" {
		t.Errorf("path %q", x.Path)
	}
	expect(t, x.Decision, "denied banned by a")
	want := `a matches=true mode=enforce key="a|ann" cost=2
  "a" 5/m cluster: allowed=true  left=3 retry=0s reset=24s wait=0s
  "a" 0/s cluster: allowed=false banned left=0 retry=0s reset=0s wait=0s
  "a" 2/m cluster candidate: allowed=true  left=0 retry=0s reset=1m0s wait=0s
login matches=false mode=enforce key="" cost=0
logs matches=true mode=enforce key="logs|ann" cost=2
  "second" sliding_log 1/s cluster: allowed=false never left=1 retry=0s reset=0s wait=0s
  "logs" fixed_window 10/h cluster: allowed=true  left=8 retry=0s reset=1h0m0s wait=0s
  "logs" sliding_log 5/m cluster: allowed=false never left=1 retry=0s reset=0s wait=0s
missing matches=true mode=shadow key="" cost=2
out matches=true mode=shadow key="out|ann" cost=2
  "out" 1/m cluster: allowed=false never left=1 retry=0s reset=0s wait=0s
  "out" leaky_bucket 1/s burst=3 instance: allowed=true  left=2 retry=0s reset=2s wait=0s
off matches=false mode=off key="" cost=0
`
	if got := states(x); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, r := range x.Rules {
		if r.Why == "" {
			t.Errorf("rule %s: no reason", r.Rule)
		}
	}
	e.ShadowAll(true)
	if x, err = e.Explain(t.Context(), r); err != nil || x.Rules[0].Mode != rule.Shadow || x.Rules[1].Mode != rule.Shadow || x.Rules[5].Mode != rule.Off {
		t.Errorf("all in shadow: %v\n%s", err, states(x))
	}
}

// TestExplainRefused: limits are told also of a request that is refused without them, and
// only those of this very request.
func TestExplainRefused(t *testing.T) {
	needy := rule.Rule{Name: "needy", Key: []string{"header:X-Key"}, Missing: rule.MissingDeny, Limits: limits("1/s")}
	login := perUser("login", "2/m")
	login.Match.Paths = []string{"/login"}
	e := open(t, compileConfig(t, rule.Config{Default: rule.Deny, Rules: []rule.Rule{login, needy}}), nil, engine.WithClock(newHands().Now))
	r := from("ann")
	r.Path = "/login"
	for range 3 { // also with memory that was used before
		x, err := e.Explain(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, x.Decision, "denied missing_key by needy")
		want := `login matches=true mode=enforce key="login|ann" cost=1
  "login" 2/m cluster: allowed=true  left=1 retry=0s reset=30s wait=0s
needy matches=true mode=enforce key="" cost=1
`
		if got := states(x); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestPeek: for all algorithms, costs and states, Peek says what Check then does, and
// neither it nor Explain changes anything.
func TestPeek(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 1))
	texts := []string{
		"5/s", "7/2s burst=3", "fixed_window 6/s", "fixed_window 6/s start=first_hit", "sliding_window 9/3s", "sliding_log 4/s", "10/5s refill=interval",
		"leaky_bucket 5/s burst=2", "warm_up 5/s warm_up=2s", "instance: 6/s", "split: fixed_window 20/2s", "sliding_window 8/2s weighted", "0/s", "unlimited", "4/d zone=Asia/Tokyo",
	}
	for range 25 {
		var rules []rule.Rule
		for i := range 1 + draw.IntN(3) {
			r := perUser(fmt.Sprint("r", i), texts[draw.IntN(len(texts))])
			r.Mode = []rule.Mode{rule.Enforce, rule.Shadow}[draw.IntN(2)]
			r.Wait = rule.Duration(draw.IntN(2)) * rule.Duration(300*time.Millisecond)
			rules = append(rules, withCandidate(r, texts[draw.IntN(len(texts))]))
		}
		clock := newHands()
		opts := []engine.Option{engine.WithClock(clock.Now), engine.WithInstance(split.Fixed{Rank: 1, Live: 2})}
		peeked, plain := open(t, compile(t, rules...), nil, opts...), open(t, compile(t, rules...), nil, opts...)
		for range 100 {
			clock.move(time.Duration(draw.IntN(200_000)) * time.Microsecond)
			r := from([]string{"ann", "bob"}[draw.IntN(2)])
			r.Cost = 1 + draw.Int64N(6)
			x, err := peeked.Explain(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			peek, err := peeked.Peek(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			got, want := check(t, peeked, r), check(t, plain, r)
			if said(got) != said(want) || said(peek) != said(want) && want.Allowed || said(x.Decision) != said(peek) || peek.Allowed != want.Allowed {
				t.Fatalf("rules %v, cost %d\nexplained %s\npeeked    %s\nchecked   %s\nwithout   %s", rules, r.Cost, said(x.Decision), said(peek), said(got), said(want))
			}
		}
	}
}
