package sluiceotel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/sluice-limiter/sluice"
	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// observed returns an observer, and what it has counted: metric, attributes, number.
func observed(tb testing.TB) (*sluiceotel.Observer, func() map[string]int64) {
	tb.Helper()
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	o, err := sluiceotel.New(provider.Meter("sluice"))
	if err != nil {
		tb.Fatal(err)
	}
	return o, func() map[string]int64 {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &all); err != nil {
			tb.Fatal(err)
		}
		found := map[string]int64{}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
					name := m.Name
					for _, a := range p.Attributes.ToSlice() {
						name += " " + a.Value.AsString()
					}
					found[name] = p.Value
				}
			}
		}
		return found
	}
}

func compile(tb testing.TB, c rule.Config) *rule.Set {
	tb.Helper()
	set, err := rule.Compile(c)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

var login = rule.Config{Rules: []rule.Rule{{
	Name: "login", Key: []string{"user"}, Match: rule.Match{Paths: []string{"/login"}}, Limits: []rule.Limit{{Limit: sluice.PerHour(3)}},
}}}

// TestEngine: what an exporter gets after requests to a real engine.
func TestEngine(t *testing.T) {
	o, counted := observed(t)
	e, err := engine.New(compile(t, login), nil, engine.WithObserver(o))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, path := range []string{"/login", "/login", "/login", "/login", "/login", "/nowhere"} {
		if _, err := e.Check(context.Background(), engine.Request{Method: "GET", Path: path, User: "a secret name"}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int64{
		"sluice.requests allowed":        4,
		"sluice.requests denied":         2,
		"sluice.requests.uncovered":      1,
		"sluice.decisions allowed login": 3, // attributes are sorted by name
		"sluice.decisions denied login":  2,
		"sluice.cost.offered login":      5,
		"sluice.cost.admitted login":     3,
	}
	if got := counted(); !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestOutcomes: what each kind of answer counts as.
func TestOutcomes(t *testing.T) {
	r := &rule.Compiled{Rule: rule.Rule{Name: "r"}}
	said := func(o engine.Outcome) engine.Event {
		o.Rule = r
		return engine.Event{Outcomes: []engine.Outcome{o}}
	}
	for name, c := range map[string]struct {
		event engine.Event
		want  map[string]int64
	}{
		"shadow":    {said(engine.Outcome{Cost: 2}), map[string]int64{"sluice.decisions shadow_denied r": 1, "sluice.cost.offered r": 2}},
		"undecided": {said(engine.Outcome{Cost: 2, Allowed: true, Undecided: true}), map[string]int64{"sluice.decisions undecided r": 1, "sluice.cost.offered r": 2}},
		"degraded": {
			said(engine.Outcome{Cost: 2, Allowed: true, Spent: true, Degraded: true}),
			map[string]int64{"sluice.decisions allowed r": 1, "sluice.decisions.degraded r": 1, "sluice.cost.offered r": 2, "sluice.cost.admitted r": 2},
		},
		"candidate denies": {
			said(engine.Outcome{Cost: 2, Enforced: true, Candidate: engine.CandidateDenies}),
			map[string]int64{"sluice.decisions denied r": 1, "sluice.decisions.candidate denied r": 1, "sluice.cost.offered r": 2},
		},
		"candidate allows": {
			said(engine.Outcome{Cost: 2, Enforced: true, Candidate: engine.CandidateAllows}),
			map[string]int64{"sluice.decisions denied r": 1, "sluice.decisions.candidate allowed r": 1, "sluice.cost.offered r": 2},
		},
		"an error": {engine.Event{Err: errors.New("no")}, map[string]int64{"sluice.requests error": 1}},
		"left":     {engine.Event{Err: context.Canceled, Left: true}, map[string]int64{"sluice.requests left": 1}},
	} {
		o, counted := observed(t)
		o.Observe(&c.event)
		if c.event.Err == nil {
			c.want["sluice.requests denied"] = 1
		}
		if got := counted(); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v\nwant %v", name, got, c.want)
		}
	}
}

// TestManyRules: however many names there are, the series are bounded.
func TestManyRules(t *testing.T) {
	o, counted := observed(t)
	o.Limit(5)
	for i := range 8 {
		o.Observe(allowed(fmt.Sprint("r", i)))
		o.Observe(allowed(fmt.Sprint("r", i)))
	}
	got := counted()
	if n := got["sluice.decisions allowed "+sluiceotel.Other]; n != 6 {
		t.Errorf("%d of other rules, want 6", n)
	}
	n := 0
	for name := range got {
		if strings.HasPrefix(name, "sluice.cost.offered") {
			n++
		}
	}
	if n != 6 {
		t.Errorf("%d series, want 6", n)
	}
}

func TestConcurrentSafe(t *testing.T) {
	o, counted := observed(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 500 {
				o.Observe(allowed(fmt.Sprint("r", (i+j)%7)))
				if j%100 == 0 {
					counted()
				}
			}
		})
	}
	wg.Wait()
	if n := counted()["sluice.requests allowed"]; n != 2000 {
		t.Errorf("%d requests, want 2000", n)
	}
}

func allowed(rules ...string) *engine.Event {
	e := &engine.Event{}
	e.Decision.Allowed = true
	for _, name := range rules {
		r := &rule.Compiled{Rule: rule.Rule{Name: name}}
		e.Outcomes = append(e.Outcomes, engine.Outcome{Rule: r, Cost: 1, Enforced: true, Allowed: true, Spent: true})
	}
	return e
}

// TestClose: after Close nothing is read any more.
func TestClose(t *testing.T) {
	o, counted := observed(t)
	o.Observe(allowed("a"))
	if len(counted()) == 0 {
		t.Fatal("nothing was counted")
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	o.Observe(allowed("a"))
	if got := counted(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestNoAllocations(t *testing.T) {
	o, _ := observed(t)
	e := allowed("a", "b", "c")
	o.Observe(e)
	if n := testing.AllocsPerRun(100, func() { o.Observe(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	o, _ := observed(b)
	e := allowed("a", "b", "c")
	b.ReportAllocs()
	for b.Loop() {
		o.Observe(e)
	}
}
