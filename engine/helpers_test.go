package engine_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// start is an instant at which windows of all lengths begin.
var start = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// hands is a clock that stands still until it is moved.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func newHands() *hands { return &hands{now: start} }

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// limits reads limits of a rule; "split: 10/s" has another scope than cluster.
func limits(texts ...string) []rule.Limit {
	var all []rule.Limit
	for _, text := range texts {
		l := rule.Limit{}
		if scope, rest, ok := strings.Cut(text, ": "); ok {
			l.Scope, text = rule.Scope(scope), rest
		}
		parsed, err := rule.ParseLimit(text)
		if err != nil {
			panic(err)
		}
		l.Limit = parsed
		all = append(all, l)
	}
	return all
}

// perUser is a rule for every request, by user.
func perUser(name string, texts ...string) rule.Rule {
	return rule.Rule{Name: name, Key: []string{"user"}, Limits: limits(texts...)}
}

func compile(t testing.TB, rules ...rule.Rule) *rule.Set {
	t.Helper()
	return compileConfig(t, rule.Config{Rules: rules})
}

func compileConfig(t testing.TB, c rule.Config) *rule.Set {
	t.Helper()
	set, err := rule.Compile(c, rule.At(start))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func open(t testing.TB, set *rule.Set, s store.Store, opts ...engine.Option) *engine.Engine {
	t.Helper()
	e, err := engine.New(set, s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// from is a request of a user.
func from(user string) engine.Request {
	return engine.Request{Method: "GET", Host: "example.com", Path: "/", IP: netip.MustParseAddr("203.0.113.7"), User: user}
}

func check(t testing.TB, e *engine.Engine, r engine.Request) engine.Decision {
	t.Helper()
	d, err := e.Check(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said is a decision in a few words: what a test expects to read.
func said(d engine.Decision) string {
	text := "denied"
	if d.Allowed {
		text = "allowed"
	}
	if d.Reason != 0 {
		text += " " + d.Reason.String()
	}
	if d.Rule != nil {
		text += " by " + d.Rule.Name
		if d.LimitName != "" && d.LimitName != d.Rule.Name {
			text += "/" + d.LimitName
		}
		if d.Reason == 0 || d.Reason == sluice.Limited {
			text += fmt.Sprintf(" left %d", d.Remaining())
		}
	}
	for _, more := range []struct {
		name string
		d    time.Duration
	}{{"retry", d.RetryAfter()}, {"wait", d.Wait()}} {
		if more.d > 0 {
			text += fmt.Sprintf(" %s %v", more.name, more.d)
		}
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"shadow", d.Shadow}, {"degraded", d.Degraded}, {"waits", d.Waits}} {
		if flag.set {
			text += " " + flag.name
		}
	}
	return text
}

func expect(t testing.TB, d engine.Decision, want string) {
	t.Helper()
	if got := said(d); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
