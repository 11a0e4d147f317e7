package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

func dial(t testing.TB, addr string) *resp.Client {
	t.Helper()
	c, err := resp.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// do sends a command and returns the answer as text.
func do(t testing.TB, c *resp.Client, command ...string) string {
	t.Helper()
	answer, err := c.Do(t.Context(), command...)
	if err != nil {
		t.Fatal(command, err)
	}
	return fmt.Sprint(answer)
}

func onRedis(t testing.TB, c *resp.Client, options ...redisstore.Option) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(c, options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patient gives a store all the time in the world: these tests are not about outages.
func patient(t testing.TB, s store.Store) store.Store {
	t.Helper()
	fail, err := failover.New(s, memstore.New(), failover.Deadline(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fail.Close() })
	return fail
}

var scriptCalls = regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=\d+`)

// TestRedisOneCall: three rules, one more in shadow and a candidate are one call of one
// script.
func TestRedisOneCall(t *testing.T) {
	c := dial(t, redistest.Start(t))
	e := open(t, compile(t,
		withCandidate(perUser("a", "10/s", "fixed_window 100/h"), "5/s"),
		rule.Rule{Name: "b", Key: []string{"ip"}, Limits: limits("sliding_window 100/m")},
		rule.Rule{Name: "c", Limits: limits("sliding_log 100/m")},
		mode(perUser("soft", "leaky_bucket 1/h burst=1"), rule.Shadow),
	), patient(t, onRedis(t, c)))
	check(t, e, from("ann")) // brings the script
	do(t, c, "CONFIG", "RESETSTAT")
	for i := range 5 {
		if d := check(t, e, from("ann")); !d.Allowed || d.Degraded || i > 0 && !d.Shadow {
			t.Error(said(d))
		}
	}
	if got := scriptCalls.FindAllString(do(t, c, "INFO", "commandstats"), -1); !slices.Equal(got, []string{"cmdstat_evalsha:calls=5"}) {
		t.Errorf("5 checks made %v", got)
	}
}

// TestRedisLikeMemory: a random stream is decided as it is in memory, by rules of all
// algorithms, in shadow, with candidates and overrides.
func TestRedisLikeMemory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 2))
	c := dial(t, redistest.Start(t))
	for round := range 6 {
		rules := drawRules(draw)
		clock := newHands()
		near, far := &recorder{}, &recorder{}
		s := onRedis(t, c, redisstore.WithClock(clock.Now), redisstore.Prefix(fmt.Sprint("round", round)))
		memory := open(t, compile(t, rules...), nil, engine.WithClock(clock.Now), engine.WithObserver(near))
		redis := open(t, compile(t, rules...), patient(t, s), engine.WithClock(clock.Now), engine.WithObserver(far))
		for n := range 100 {
			clock.move(time.Duration(draw.IntN(300_000)) * time.Microsecond)
			r := from([]string{"ann", "bob"}[draw.IntN(2)])
			r.Cost = 1 + draw.Int64N(2)
			want, got := said(check(t, memory, r)), said(check(t, redis, r))
			if got != want || !slices.Equal(near.last, far.last) {
				t.Fatalf("request %d, rules %v\nRedis  %s %q\nmemory %s %q", n, rules, got, far.last, want, near.last)
			}
			if n%20 == 19 {
				refund(t, r, memory, redis)
			}
		}
	}
}

// drawRules makes a few rules at random.
func drawRules(draw *rand.Rand) []rule.Rule {
	texts := []string{
		"5/s", "7/2s burst=3", "fixed_window 6/s", "sliding_window 9/3s", "sliding_log 4/s", "10/5s refill=interval",
		"leaky_bucket 5/s burst=2", "instance: 6/s", "sliding_window 8/2s weighted", "12/d zone=UTC",
	}
	pick := func() string { return texts[draw.IntN(len(texts))] }
	var rules []rule.Rule
	for i := range 3 {
		r := withCandidate(perUser(fmt.Sprint("rule", i), pick(), pick()), pick())
		if draw.IntN(3) == 0 {
			r.Mode = rule.Shadow
		}
		if draw.IntN(2) == 0 {
			r.Wait = rule.Duration(300 * time.Millisecond)
		}
		r.Overrides = []rule.Override{{Keys: []rule.KeyValues{{"bob"}}, Limits: limits(pick())}}
		rules = append(rules, r)
	}
	return rules
}

func refund(t *testing.T, r engine.Request, engines ...*engine.Engine) {
	t.Helper()
	for _, e := range engines {
		if err := e.Refund(t.Context(), r, 2); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRedisLooking: who only looks spends nothing and leaves no trace, also where
// budgets are leased.
func TestRedisLooking(t *testing.T) {
	for _, leased := range []bool{false, true} {
		t.Run(fmt.Sprint("leased=", leased), func(t *testing.T) {
			c := dial(t, redistest.Start(t))
			s := store.Store(onRedis(t, c))
			if leased {
				l, err := lease.New(s, lease.Share(0.5))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { l.Close(t.Context()) })
				s = l
			}
			e := open(t, compile(t, withCandidate(perUser("a", "fixed_window 100/d", "1000/h"), "fixed_window 50/d"),
				mode(perUser("soft", "fixed_window 100/d"), rule.Shadow)), patient(t, s))
			look := func(want string) {
				t.Helper()
				for range 20 {
					d, err := e.Peek(t.Context(), from("ann"))
					if err != nil || said(d) != want {
						t.Fatalf("%s, %v, want %s", said(d), err, want)
					}
					if _, err := e.Explain(t.Context(), from("ann")); err != nil {
						t.Fatal(err)
					}
				}
			}
			look("allowed by a left 99")
			if n := do(t, c, "DBSIZE"); n != "0" {
				t.Errorf("%s keys after nobody did anything: %s", n, do(t, c, "KEYS", "*"))
			}
			if leased {
				return // what is left is told by the lease then, and it is taken ahead
			}
			check(t, e, from("ann"))
			before := dump(t, c)
			look("allowed by a left 98")
			if after := dump(t, c); after != before {
				t.Errorf("before %q\nafter %q", before, after)
			}
		})
	}
}

// dump returns all that the server keeps.
func dump(t *testing.T, c *resp.Client) string {
	t.Helper()
	keys, err := c.Do(t.Context(), "KEYS", "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, key := range keys.([]any) {
		all = append(all, fmt.Sprint(key, "=", do(t, c, "DUMP", fmt.Sprint(key))))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestRedisReserveAcross: what one process reserved another settles, once.
func TestRedisReserveAcross(t *testing.T) {
	addr := redistest.Start(t)
	rules := []rule.Rule{perUser("a", "fixed_window 10/d"), mode(perUser("soft", "fixed_window 3/d"), rule.Shadow)}
	one := open(t, compile(t, rules...), patient(t, onRedis(t, dial(t, addr))))
	two := open(t, compile(t, rules...), patient(t, onRedis(t, dial(t, addr))))
	r := from("ann")
	r.Cost = 5 // too much for the rule in shadow, which is not charged
	res, err := one.Reserve(t.Context(), r)
	if err != nil || !res.OK() || !res.Shadow {
		t.Fatal(res, err)
	}
	expect(t, check(t, two, from("ann")), "allowed by a left 4")
	if err := two.Commit(t.Context(), r, res.ID, 2); err != nil {
		t.Fatal(err)
	}
	expect(t, check(t, one, from("ann")), "allowed by a left 6")
	for _, commit := range []func() error{
		func() error { return res.Commit(t.Context(), 2) },
		func() error { return two.Commit(t.Context(), r, res.ID, 2) },
	} {
		if err := commit(); !errors.Is(err, sluice.ErrSettled) {
			t.Errorf("settled again: %v", err)
		}
	}
	expect(t, check(t, two, from("ann")), "allowed by a left 5")
}

// TestRedisStops: when the server goes, every rule has its own answer, at once.
func TestRedisStops(t *testing.T) {
	at := func(r rule.Rule, path string) rule.Rule {
		r.Match.Paths = []string{path}
		return r
	}
	addr := redistest.Start(t)
	e := open(t, compile(t,
		at(perUser("local", "fixed_window 3/d"), "/local"),
		at(onError(perUser("allow", "fixed_window 1/d"), rule.ErrorAllow), "/allow"),
		at(onError(perUser("deny", "fixed_window 9/d"), rule.ErrorDeny), "/deny"),
		mode(onError(perUser("soft", "fixed_window 99/d"), rule.ErrorDeny), rule.Shadow),
	), onRedis(t, dial(t, addr)))
	to := func(path string) engine.Request {
		r := from("ann")
		r.Path = path
		return r
	}
	for _, path := range []string{"/local", "/allow", "/deny"} {
		check(t, e, to(path))
	}
	_, _ = dial(t, addr).Do(t.Context(), "SHUTDOWN", "NOSAVE") // it answers by hanging up
	for _, want := range []struct{ path, said string }{
		{"/local", "allowed by local left 1 degraded"}, // it remembers the one before
		{"/local", "allowed by local left 0 degraded"},
		{"/local", "denied limited by local left 0"},
		{"/allow", "allowed by allow left 0 degraded"},
		{"/allow", "allowed by allow left 0 degraded"},
		{"/deny", "denied unavailable by deny"},
	} {
		if d := check(t, e, to(want.path)); !strings.HasPrefix(said(d), want.said) || !d.Degraded || d.Shadow {
			t.Errorf("%s: %s, want %s", want.path, said(d), want.said)
		}
	}
	if s := e.Stats(); s.Errors != 0 || s.Rules[3].ShadowDenied != 0 {
		t.Errorf("%+v", s)
	}
}
