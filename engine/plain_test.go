package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// diary writes down every event, without candidates.
type diary struct{ last string }

func (d *diary) Observe(e *engine.Event) {
	var b strings.Builder
	fmt.Fprint(&b, e.Request.User, e.Path, e.Left, e.Err, said(e.Decision), e.Decision.Limit(), e.Decision.ResetAfter())
	for _, o := range e.Outcomes {
		o.Candidate = 0
		fmt.Fprint(&b, "\n", o.Rule.Name, o.Key, o.Cost, o.Enforced, o.Allowed, o.Undecided, o.Spent, o.Degraded, o.Limit(), o.Reason(), o.RetryAfter())
	}
	d.last = b.String()
}

// TestPlainRequestsAreDecidedAlike: the short way of requests whose rules have nothing but
// one enforced limit each leads to what the long way does. A candidate that allows
// everything makes a request take the long way.
func TestPlainRequestsAreDecidedAlike(t *testing.T) {
	rules := []rule.Rule{
		perUser("user", "5/m"),
		{Name: "address", Key: []string{"ip"}, Match: rule.Match{Paths: []string{"/a/*"}}, Limits: limits("fixed_window 7/m")},
		{Name: "all", Key: []string{"header:X"}, Match: rule.Match{Paths: []string{"/a/b", "/c"}}, Limits: limits("sliding_log 9/m"), Missing: rule.MissingDeny},
		mode(rule.Rule{Name: "soft", Match: rule.Match{Paths: []string{"/c"}}, Limits: limits("3/m")}, rule.Shadow),
		{Name: "half", Key: []string{"user"}, Match: rule.Match{Paths: []string{"/d"}}, Rollout: "50%", Limits: limits("1/m")},
	}
	long := slices.Clone(rules)
	for i := range long {
		long[i] = withCandidate(long[i], "unlimited")
	}
	clock := newHands()
	var diaries [2]diary
	engines := [2]*engine.Engine{
		open(t, compile(t, rules...), nil, engine.WithClock(clock.Now), engine.WithObserver(&diaries[0])),
		open(t, compile(t, long...), nil, engine.WithClock(clock.Now), engine.WithObserver(&diaries[1])),
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		r := from([]string{"ann", "bob", "", "carl"}[random.IntN(4)])
		r.Path = []string{"/", "/a", "/a/b", "/c", "/d", "/a%2Fb"}[random.IntN(6)]
		r.Cost = []int64{0, 1, 2, 8, -1, 1 << 60}[random.IntN(6)]
		if random.IntN(4) > 0 {
			r.Header = headers{"X": "x"}
		}
		clock.move(time.Duration(random.IntN(5000)) * time.Millisecond)
		waits := random.IntN(3) == 0
		for i, e := range engines {
			if waits {
				_, _ = e.Wait(t.Context(), r)
			} else {
				_, _ = e.Check(t.Context(), r)
			}
			if i == 1 && diaries[0] != diaries[1] {
				t.Fatalf("request %+v\nthe short way:\n%s\nthe long way:\n%s", r, diaries[0].last, diaries[1].last)
			}
		}
	}
	a, b := fmt.Sprintf("%+v", engines[0].Stats()), fmt.Sprintf("%+v", engines[1].Stats())
	if a != b {
		t.Errorf("stats of the short way\n%s\nand of the long way\n%s", a, b)
	}
	if s := engines[0].Stats(); s.Allowed == 0 || s.Denied == 0 || s.Errors == 0 || s.Shadow == 0 {
		t.Errorf("not all kinds of decisions were made: %+v", s)
	}
}

// headers is a Getter.
type headers map[string]string

func (h headers) Get(name string) string { return h[name] }
