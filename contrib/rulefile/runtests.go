package rulefile

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
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
	results := make([]TestResult, len(r.Tests))
	for i := range r.Tests {
		results[i] = runTest(r, &r.Tests[i], r.tests[i])
	}
	return results
}

// runTest runs one test, to its end even if a step fails.
func runTest(r *Result, t *Test, n *node) TestResult {
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
	set, err := rule.Compile(r.Config, r.options.forRules(&r.Config, rule.At(start))...)
	if err != nil {
		fail(n, err.Error())
		return result
	}
	e, err := engine.New(set, nil, engine.WithClock(func() time.Time { return now }))
	if err != nil {
		fail(n, err.Error())
		return result
	}
	defer e.Close()
	for i := range t.Steps {
		step, at := &t.Steps[i], n.get("steps").items[i]
		if later := start.Add(time.Duration(step.At)); at.get("at") != nil {
			now = later
		}
		result.Requests += runStep(e, step, func(field, reason string) {
			fail(at.find(field), fmt.Sprintf("step %d: %s", i+1, reason))
		})
	}
	return result
}

// runStep sends the requests of a step and compares. It returns how many it sent.
func runStep(e *engine.Engine, s *Step, fail func(field, reason string)) int {
	request := s.Request.Request()
	repeat := max(s.Repeat, 1)
	for i := range repeat {
		d, err := e.Check(context.Background(), request)
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

// setTests adds the tests of one file and checks what can be told without running
// them.
func (l *loader) setTests(list *node) {
	var d decoder
	var tests []Test
	d.value(list, reflect.ValueOf(&tests).Elem(), "tests")
	for i := range tests {
		if list.items[i].kind == mapKind {
			l.checkTest(&d, &tests[i], list.items[i], fmt.Sprintf("tests[%d]", i))
		}
	}
	l.problems = append(l.problems, d.problems...)
	l.result.Tests = append(l.result.Tests, tests...)
	l.result.tests = append(l.result.tests, list.items...)
}

func (l *loader) checkTest(d *decoder, t *Test, n *node, path string) {
	if n.get("name") == nil {
		d.fail(n, path, "a test needs a name", "name: five logins a minute")
	}
	steps := n.get("steps")
	if steps == nil || steps.kind == listKind && len(steps.items) == 0 {
		d.fail(n, join(path, "steps"), "a test needs steps", "steps: [{request: GET /, expect: allow}]")
		return
	}
	now := rule.Duration(0)
	for i := range t.Steps {
		s, at := &t.Steps[i], steps.items[i]
		where := fmt.Sprintf("%s.steps[%d]", path, i)
		if at.kind != mapKind {
			continue
		}
		for _, name := range []string{"request", "expect"} {
			if at.get(name) == nil {
				d.fail(at, join(where, name), fmt.Sprintf("a step needs the field %q", name), "request: GET /, expect: allow")
			}
		}
		if at.get("repeat") != nil && (s.Repeat < 1 || s.Repeat > maxRepeat) {
			d.fail(at.get("repeat"), join(where, "repeat"), fmt.Sprintf("repeat has to be between 1 and %d", maxRepeat), "")
		}
		if l.requests += max(s.Repeat, 1); l.requests > maxRequests {
			d.fail(at, where, fmt.Sprintf("the tests send more than %d requests", maxRequests), "lower repeat")
		}
		if at.get("at") != nil {
			if s.At < now {
				d.fail(at.get("at"), join(where, "at"), "the time goes back", "order the steps by their times, which count from the start of the test")
			}
			now = s.At
		}
	}
}
