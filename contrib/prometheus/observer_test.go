package sluiceprometheus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluice-limiter/sluice"
	sluiceprometheus "github.com/sluice-limiter/sluice/contrib/prometheus"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// compile makes rules by user, all with these limits.
func compile(tb testing.TB, limit string, names ...string) *rule.Set {
	tb.Helper()
	var c rule.Config
	for _, name := range names {
		c.Rules = append(c.Rules, rule.Rule{
			Name: name, Key: []string{"user"}, Match: rule.Match{Paths: []string{"/" + name}},
			Limits: []rule.Limit{{Limit: sluice.MustParse(limit)}},
		})
	}
	set, err := rule.Compile(c)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func newEngine(tb testing.TB, set *rule.Set, o engine.Observer) *engine.Engine {
	tb.Helper()
	e, err := engine.New(set, nil, engine.WithObserver(o))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

func check(tb testing.TB, e *engine.Engine, path, user string) {
	tb.Helper()
	if _, err := e.Check(context.Background(), engine.Request{Method: "GET", Path: path, User: user}); err != nil {
		tb.Fatal(err)
	}
}

// TestScrape: what a Prometheus server reads over HTTP after requests to a real engine.
func TestScrape(t *testing.T) {
	metrics := sluiceprometheus.New()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	e := newEngine(t, compile(t, "3/h", "login", "search"), metrics)
	for range 5 {
		check(t, e, "/login", "a secret name")
	}
	check(t, e, "/search", "ann")
	check(t, e, "/nowhere", "ann")

	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`sluice_requests_total{outcome="allowed"} 5`,
		`sluice_requests_total{outcome="denied"} 2`,
		`sluice_requests_total{outcome="left"} 0`,
		`sluice_requests_total{outcome="error"} 0`,
		`sluice_uncovered_requests_total 1`,
		`sluice_decisions_total{outcome="allowed",rule="login"} 3`,
		`sluice_decisions_total{outcome="denied",rule="login"} 2`,
		`sluice_decisions_total{outcome="shadow_denied",rule="login"} 0`,
		`sluice_decisions_total{outcome="allowed",rule="search"} 1`,
		`sluice_cost_offered_total{rule="login"} 5`,
		`sluice_cost_admitted_total{rule="login"} 3`,
		`sluice_degraded_decisions_total{rule="login"} 0`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("no %s in\n%s", line, body)
		}
	}
	if strings.Contains(string(body), "secret") {
		t.Error("a key became a label")
	}
}

// TestOutcomes: what each kind of answer counts as.
func TestOutcomes(t *testing.T) {
	r := &rule.Compiled{Rule: rule.Rule{Name: "r"}}
	for name, c := range map[string]struct {
		event engine.Event
		want  string // name{labels} of what is 1, or the number if not
	}{
		"shadow":            {event(engine.Outcome{Rule: r, Cost: 2}), `decisions_total{outcome="shadow_denied",rule="r"} 1; cost_offered_total{rule="r"} 2; cost_admitted_total{rule="r"} 0`},
		"denied":            {event(engine.Outcome{Rule: r, Cost: 2, Enforced: true}), `decisions_total{outcome="denied",rule="r"} 1; cost_offered_total{rule="r"} 2`},
		"undecided":         {event(engine.Outcome{Rule: r, Undecided: true, Allowed: true}), `decisions_total{outcome="undecided",rule="r"} 1; decisions_total{outcome="allowed",rule="r"} 0`},
		"degraded":          {event(engine.Outcome{Rule: r, Cost: 1, Allowed: true, Spent: true, Degraded: true}), `degraded_decisions_total{rule="r"} 1; cost_admitted_total{rule="r"} 1`},
		"candidate denies":  {event(engine.Outcome{Rule: r, Allowed: true, Candidate: engine.CandidateDenies}), `candidate_decisions_total{outcome="denied",rule="r"} 1; decisions_total{outcome="allowed",rule="r"} 1`},
		"candidate allows":  {event(engine.Outcome{Rule: r, Allowed: true, Candidate: engine.CandidateAllows}), `candidate_decisions_total{outcome="allowed",rule="r"} 1`},
		"an error":          {engine.Event{Err: errors.New("no")}, `requests_total{outcome="error"} 1; uncovered_requests_total 0`},
		"left":              {engine.Event{Err: context.Canceled, Left: true}, `requests_total{outcome="left"} 1; requests_total{outcome="error"} 0; uncovered_requests_total 0`},
		"an ambiguous path": {engine.Event{Decision: engine.Decision{Decision: sluice.Decision{Reason: sluice.Ambiguous}}}, `requests_total{outcome="denied"} 1; uncovered_requests_total 0`},
	} {
		metrics := sluiceprometheus.New()
		metrics.Observe(&c.event)
		text := scrape(t, metrics)
		for line := range strings.SplitSeq(c.want, "; ") {
			if !strings.Contains(text, "sluice_"+line+"\n") {
				t.Errorf("%s: no %s in\n%s", name, line, text)
			}
		}
	}
}

func event(o ...engine.Outcome) engine.Event { return engine.Event{Outcomes: o} }

func scrape(tb testing.TB, c prometheus.Collector) string {
	tb.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Body.String()
}

// TestLint: names and help texts are as Prometheus wants them.
func TestLint(t *testing.T) {
	metrics := sluiceprometheus.New()
	r := &rule.Compiled{Rule: rule.Rule{Name: "r"}}
	e := event(engine.Outcome{Rule: r, Candidate: engine.CandidateAllows})
	metrics.Observe(&e)
	problems, err := testutil.CollectAndLint(metrics)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// TestKeep: rules that are gone take their series with them, others go on.
func TestKeep(t *testing.T) {
	metrics := sluiceprometheus.New()
	e := newEngine(t, compile(t, "3/h", "old", "both"), metrics)
	check(t, e, "/old", "ann")
	check(t, e, "/both", "ann")
	set := compile(t, "3/h", "both", "new")
	if err := e.Swap(set); err != nil {
		t.Fatal(err)
	}
	metrics.Keep(set)
	check(t, e, "/both", "ann")
	check(t, e, "/new", "ann")
	text := scrape(t, metrics)
	for line, want := range map[string]bool{
		`rule="old"`: false,
		`sluice_decisions_total{outcome="allowed",rule="both"} 2`: true,
		`sluice_decisions_total{outcome="allowed",rule="new"} 1`:  true,
	} {
		if strings.Contains(text, line) != want {
			t.Errorf("%s: want %v in\n%s", line, want, text)
		}
	}
}

// TestManyRules: however many names there are, the series are bounded.
func TestManyRules(t *testing.T) {
	metrics := sluiceprometheus.New()
	const names = sluiceprometheus.MaxRules/100 + 3
	metrics.Limit(names - 3)
	for i := range names {
		e := event(engine.Outcome{Rule: &rule.Compiled{Rule: rule.Rule{Name: fmt.Sprint("r", i)}}, Allowed: true})
		metrics.Observe(&e)
		metrics.Observe(&e)
	}
	text := scrape(t, metrics)
	if want := `sluice_decisions_total{outcome="allowed",rule="(other)"} 6`; !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
	if n := testutil.CollectAndCount(metrics, "sluice_cost_offered_total"); n != names-2 {
		t.Errorf("%d series, want %d", n, names-2)
	}
}

func TestConcurrentSafe(t *testing.T) {
	metrics := sluiceprometheus.New()
	e := newEngine(t, compile(t, "1000000/h", "a", "b"), metrics)
	keep := compile(t, "1000000/h", "a", "b")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				check(t, e, "/a", "ann")
				check(t, e, "/b", "ann")
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			metrics.Keep(keep)
			scrape(t, metrics)
		}
	})
	wg.Wait()
	if want := `sluice_decisions_total{outcome="allowed",rule="a"} 2000`; !strings.Contains(scrape(t, metrics), want) {
		t.Errorf("no %s in\n%s", want, scrape(t, metrics))
	}
}

func BenchmarkObserve(b *testing.B) {
	metrics := sluiceprometheus.New()
	var outcomes []engine.Outcome
	for _, name := range []string{"a", "b", "c"} {
		outcomes = append(outcomes, engine.Outcome{Rule: &rule.Compiled{Rule: rule.Rule{Name: name}}, Cost: 1, Enforced: true, Allowed: true, Spent: true})
	}
	e := event(outcomes...)
	e.Decision.Allowed = true
	b.ReportAllocs()
	for b.Loop() {
		metrics.Observe(&e)
	}
}

func TestNoAllocations(t *testing.T) {
	metrics := sluiceprometheus.New()
	e := event(engine.Outcome{Rule: &rule.Compiled{Rule: rule.Rule{Name: "a"}}, Cost: 1, Enforced: true, Allowed: true, Spent: true})
	metrics.Observe(&e)
	if n := testing.AllocsPerRun(100, func() { metrics.Observe(&e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
