package rulefile

import (
	"fmt"
	"reflect"

	"github.com/sluice-limiter/sluice/rule"
)

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
		if s.Takes < 0 {
			d.fail(at.get("takes"), join(where, "takes"), "a request cannot be over before it begins", "leave it out for one that is over at once")
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
