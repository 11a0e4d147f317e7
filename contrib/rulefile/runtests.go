package rulefile

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestResult is how a test went.
type TestResult struct {
	Name     string
	File     string
	Line     int
	Requests int      // that were sent
	Failures Problems // each at the step that failed; empty if the test passed
}

// Passed reports whether all expectations were met.
func (t TestResult) Passed() bool { return len(t.Failures) == 0 }

// String says how the test went in one line, with failures in full.
func (t TestResult) String() string {
	if t.Passed() {
		return fmt.Sprintf("ok    %s (%s:%d, %d requests)", t.Name, t.File, t.Line, t.Requests)
	}
	return fmt.Sprintf("FAIL  %s (%s:%d)\n%s", t.Name, t.File, t.Line, t.Failures.Error())
}

// RunTests runs the tests of the files on an engine with the files' rules, on a
// virtual clock: hours pass in no time, and every run is the same.
func RunTests(r *Result) []TestResult {
	runner := testRunner{Result: r, conditions: NewConditions(), sets: map[time.Time]*rule.Set{}}
	results := make([]TestResult, len(r.Tests))
	for i := range r.Tests {
		results[i] = runner.run(&r.Tests[i], r.tests[i])
	}
	return results
}

// testRunner runs the tests of one result. What fails in their expressions is not
// counted with that of real requests.
type testRunner struct {
	*Result
	conditions *Conditions
	sets       map[time.Time]*rule.Set // by the start of tests: a set knows its calendars
}

// engine returns an engine that stands alone, whose clock is now.
func (r *testRunner) engine(start time.Time, now func() time.Time) (*engine.Engine, error) {
	set := r.sets[start.UTC()]
	if set == nil {
		var err error
		if set, err = rule.Compile(r.Config, r.options.forRules(r.conditions, rule.At(start))...); err != nil {
			return nil, err
		}
		r.sets[start.UTC()] = set
	}
	return engine.New(set, nil, engine.WithClock(now), engine.WithInstance(split.Fixed{Rank: 0, Live: 1}))
}

// run runs one test, to its end even if a step fails.
func (r *testRunner) run(t *Test, n *node) TestResult {
	result := TestResult{Name: t.Name, File: n.src.name, Line: n.line}
	fail := func(at *node, reason string) {
		p := at.problem(fmt.Sprintf("test %q: %s", t.Name, reason), "")
		result.Failures = append(result.Failures, p)
	}
	start := t.Start
	if start.IsZero() {
		start = testStart
	}
	now := start
	e, err := r.engine(start, func() time.Time { return now })
	if err != nil {
		fail(n, err.Error())
		return result
	}
	defer e.Close()
	var up flights
	for i := range t.Steps {
		step, at := &t.Steps[i], n.get("steps").items[i]
		if later := start.Add(time.Duration(step.At)); at.get("at") != nil {
			now = later
		}
		if step.Takes > 0 && !e.Set().HasConcurrency() {
			fail(at.find("takes"), fmt.Sprintf("step %d: takes does nothing: no rule in force has a limit of concurrency", i+1))
		}
		up.land(now)
		result.Requests += runStep(e, step, func(in engine.Entry) { up.add(in, now, step.Takes) }, func(field, reason string) {
			fail(at.find(field), fmt.Sprintf("step %d: %s", i+1, reason))
		})
	}
	return result
}

// flight is a request that is not over.
type flight struct {
	engine.Entry
	until time.Time
}

type flights []flight

// add notes what a request holds, if anything. One that takes no time is over.
func (f *flights) add(in engine.Entry, now time.Time, takes rule.Duration) {
	if takes == 0 {
		in.Leave()
	} else if in.Holds() {
		*f = append(*f, flight{in, now.Add(time.Duration(takes))})
	}
}

// land ends those whose time is over.
func (f *flights) land(now time.Time) {
	var still flights
	for _, one := range *f {
		if one.until.After(now) {
			still = append(still, one)
		} else {
			one.Leave()
		}
	}
	*f = still
}

// runStep sends the requests of a step and compares. It returns how many it sent. hold is
// given what each of them holds.
func runStep(e *engine.Engine, s *Step, hold func(engine.Entry), fail func(field, reason string)) int {
	request := s.Request.Request()
	repeat := max(s.Repeat, 1)
	for i := range repeat {
		in, err := e.Enter(context.Background(), request)
		d := in.Decision
		hold(in)
		which := ""
		if repeat > 1 {
			which = fmt.Sprintf(" (request %d of %d)", i+1, repeat)
		}
		if err != nil {
			fail("expect", fmt.Sprintf("the request could not be decided: %v%s", err, which))
			return i + 1
		}
		if d.Allowed != (s.Expect == ExpectAllow) {
			fail("expect", fmt.Sprintf("expected %s, got %s%s", s.Expect, describe(&d), which))
			return i + 1
		}
		if i == repeat-1 {
			compare(s, &d, fail)
		}
	}
	return repeat
}

// describe tells a decision in words.
func describe(d *engine.Decision) string {
	by := ""
	if d.Rule != nil {
		by = fmt.Sprintf(" by rule %q", d.Rule.Name)
		if d.LimitName != "" && d.LimitName != d.Rule.Name {
			by += fmt.Sprintf(", limit %q", d.LimitName)
		}
	}
	if d.Allowed {
		return fmt.Sprintf("allow%s, remaining %d", by, d.Remaining())
	}
	return fmt.Sprintf("deny%s: %s, retry after %v", by, d.Reason, d.RetryAfter())
}

// compare checks what a step expects beside the outcome.
func compare(s *Step, d *engine.Decision, fail func(field, reason string)) {
	name := ""
	if d.Rule != nil {
		name = d.Rule.Name
	}
	expect(fail, "rule", s.Rule, name)
	expect(fail, "limit", s.Limit, d.LimitName)
	expect(fail, "remaining", s.Remaining, d.Remaining())
	expectTime(fail, "retry_after", s.RetryAfter, d.RetryAfter())
	expectTime(fail, "wait", s.Wait, d.Wait())
	expect(fail, "reason", s.Reason, d.Reason.String())
	expect(fail, "shadow", s.Shadow, d.Shadow)
}

func expect[T comparable](fail func(field, reason string), field string, want *T, got T) {
	if want != nil && *want != got {
		fail(field, fmt.Sprintf("expected %s %#v, got %#v", field, *want, got))
	}
}

func expectTime(fail func(field, reason string), field string, want *rule.Duration, got time.Duration) {
	if want != nil && time.Duration(*want) != got {
		fail(field, fmt.Sprintf("expected %s %v, got %v", field, time.Duration(*want), got))
	}
}
