package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/split"
)

// recorder remembers what every rule said last, in a few words.
type recorder struct {
	mu    sync.Mutex
	last  []string
	err   error
	count int
}

func (r *recorder) Observe(e *engine.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.err = nil, e.Err
	r.count++
	for _, o := range e.Outcomes {
		text := strings.Clone(o.Key)
		for _, flag := range []struct {
			name string
			set  bool
		}{
			{"enforced", o.Enforced},
			{"allowed", o.Allowed},
			{"undecided", o.Undecided},
			{"candidate allows", o.Candidate == engine.CandidateAllows},
			{"candidate denies", o.Candidate == engine.CandidateDenies},
			{"spent", o.Spent},
			{"degraded", o.Degraded},
		} {
			if flag.set {
				text += ", " + flag.name
			}
		}
		r.last = append(r.last, text)
	}
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.last, want) {
		t.Errorf("outcomes\n%s\nwant\n%s", strings.Join(r.last, "\n"), strings.Join(want, "\n"))
	}
}

func withCandidate(r rule.Rule, texts ...string) rule.Rule {
	r.Candidate = limits(texts...)
	return r
}

// TestModes: what is not enforced is decided, charged if it allows, and refuses nothing.
func TestModes(t *testing.T) {
	rec := &recorder{}
	e := open(t, compile(t,
		perUser("hard", "3/m"),
		mode(perUser("soft", "2/m"), rule.Shadow),
		withCandidate(perUser("both", "10/m"), "1/m"),
	), nil, engine.WithClock(newHands().Now), engine.WithObserver(rec))

	expect(t, check(t, e, from("ann")), "allowed by hard left 2")
	rec.expect(t, "hard|ann, enforced, allowed, spent", "soft|ann, allowed, spent", "both|ann, enforced, allowed, candidate allows, spent")
	expect(t, check(t, e, from("ann")), "allowed by hard left 1")
	rec.expect(t, "hard|ann, enforced, allowed, spent", "soft|ann, allowed, spent", "both|ann, enforced, allowed, candidate denies, spent")
	expect(t, check(t, e, from("ann")), "allowed by hard left 0 shadow")
	rec.expect(t, "hard|ann, enforced, allowed, spent", "soft|ann", "both|ann, enforced, allowed, candidate denies, spent")
	expect(t, check(t, e, from("ann")), "denied limited by hard left 0 retry 20s")
	rec.expect(t, "hard|ann, enforced", "soft|ann", "both|ann, enforced, allowed, candidate denies")
	if rec.count != 4 {
		t.Errorf("%d events for 4 requests", rec.count)
	}
}

// TestShadowIsNotChargedForDenials: it is charged if and only if all enforced limits
// and it itself allow.
func TestShadowIsNotChargedForDenials(t *testing.T) {
	clock := newHands()
	e := open(t, compile(t, perUser("hard", "fixed_window 1/m"), mode(perUser("soft", "fixed_window 3/h"), rule.Shadow)), nil, engine.WithClock(clock.Now))
	for _, want := range []string{"allowed by hard left 0", "denied", "denied", "denied"} {
		if got := said(check(t, e, from("ann"))); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	clock.move(time.Minute)
	expect(t, check(t, e, from("ann")), "allowed by hard left 0") // two of three in shadow
	clock.move(time.Minute)
	expect(t, check(t, e, from("ann")), "allowed by hard left 0")
	clock.move(time.Minute)
	expect(t, check(t, e, from("ann")), "allowed by hard left 0 shadow")
}

// TestShadowAll: one switch, there and back; what is spent meanwhile counts.
func TestShadowAll(t *testing.T) {
	e := open(t, compileConfig(t, rule.Config{Default: rule.Deny, Rules: []rule.Rule{perUser("a", "1/m")}}), nil, engine.WithClock(newHands().Now))
	e.ShadowAll(true)
	if !e.ShadowedAll() {
		t.Error("the switch is on and says off")
	}
	expect(t, check(t, e, from("ann")), "allowed")
	expect(t, check(t, e, from("ann")), "allowed shadow")
	expect(t, check(t, e, from("")), "allowed shadow") // no rule matches without a user
	e.ShadowAll(false)
	expect(t, check(t, e, from("ann")), "denied limited by a left 0 retry 1m0s")
	expect(t, check(t, e, from("")), "denied no_rule")
}

// TestRollout: a stable share of the keys is refused, the others would be.
func TestRollout(t *testing.T) {
	r := perUser("a", "1/h")
	r.Rollout = "30%"
	e := open(t, compile(t, r), nil, engine.WithClock(newHands().Now))
	refused := 0
	for i := range 1000 {
		user := fmt.Sprint("user", i)
		check(t, e, from(user))
		d := check(t, e, from(user))
		if d.Allowed == !d.Shadow {
			t.Fatalf("%s: %s", user, said(d))
		}
		if !d.Allowed {
			refused++
		}
		if again := check(t, e, from(user)); again.Allowed != d.Allowed {
			t.Fatalf("%s: %s, then %s", user, said(d), said(again))
		}
	}
	if refused < 250 || refused > 350 {
		t.Errorf("%d of 1000 keys are refused, want about 300", refused)
	}
}

// TestShadowNeverInfluences: an engine with rules in shadow, candidates and rollouts of
// nothing decides a random stream exactly as one without them, of all algorithms and
// scopes.
func TestShadowNeverInfluences(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 1))
	texts := []string{
		"5/s", "7/2s burst=3", "fixed_window 6/s", "sliding_window 9/3s", "sliding_log 4/s", "10/5s refill=interval",
		"leaky_bucket 5/s burst=2", "warm_up 5/s warm_up=2s", "instance: 6/s", "split: fixed_window 20/2s", "sliding_window 8/2s weighted",
	}
	pick := func() string { return texts[draw.IntN(len(texts))] }
	for range 20 {
		var bare, full []rule.Rule
		for i := range 1 + draw.IntN(3) {
			r := perUser(fmt.Sprint("hard", i), pick())
			if draw.IntN(2) == 0 {
				r.Wait = rule.Duration(300 * time.Millisecond)
			}
			bare, full = append(bare, r), append(full, withCandidate(r, pick()))
		}
		for i := range 1 + draw.IntN(3) {
			r := perUser(fmt.Sprint("soft", i), pick())
			if r.Mode = rule.Shadow; draw.IntN(2) == 0 {
				r.Mode, r.Rollout = rule.Enforce, "0%"
			}
			full = slices.Insert(full, draw.IntN(len(full)+1), r)
		}
		clock := newHands()
		opts := []engine.Option{engine.WithClock(clock.Now), engine.WithInstance(split.Fixed{Rank: 1, Live: 2})}
		plain, shadowed := open(t, compile(t, bare...), nil, opts...), open(t, compile(t, full...), nil, opts...)
		for range 200 {
			clock.move(time.Duration(draw.IntN(200_000)) * time.Microsecond)
			r := from([]string{"ann", "bob"}[draw.IntN(2)])
			r.Cost = 1 + draw.Int64N(2)
			want, got := check(t, plain, r), check(t, shadowed, r)
			if got.Shadow = false; said(got) != said(want) {
				t.Fatalf("rules %v\ngot  %s\nwant %s", full, said(got), said(want))
			}
		}
	}
}

// TestOverride: other limits for some keys, under their own names.
func TestOverride(t *testing.T) {
	r := perUser("a", "1/m")
	r.Overrides = []rule.Override{{Keys: []rule.KeyValues{{"ann"}}, Limits: []rule.Limit{{Name: "gold", Limit: sluice.PerMinute(10)}}}}
	e := open(t, compile(t, r), nil, engine.WithClock(newHands().Now))
	expect(t, check(t, e, from("ann")), "allowed by a/gold left 9")
	expect(t, check(t, e, from("bob")), "allowed by a left 0")
}
