package rule_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// TestConcurrencyAsJSON: a limit of concurrency is a text among the limits of a rule, or
// stands in an object, and is written as it was read.
func TestConcurrencyAsJSON(t *testing.T) {
	const text = `{"rules":[{"name":"reports","key":["user"],"limits":["concurrency 4",{"name":"here","limit":"concurrency 2","scope":"instance"},"100/s"],` +
		`"candidate":["concurrency 3"],"overrides":[{"keys":["ann"],"limits":["concurrency 40"]}]}]}`
	config, err := rule.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := config.Rules[0].Limits[0].Limit; got != rule.Concurrency(4) {
		t.Errorf("read as %+v", got)
	}
	written, err := json.Marshal(config)
	if err != nil || string(written) != text {
		t.Errorf("%v: written as\n%s\nwas\n%s", err, written, text)
	}
	var plain rule.Config
	if err := json.Unmarshal(written, &plain); err != nil || !reflect.DeepEqual(plain, config) {
		t.Errorf("%v: json.Unmarshal reads\n%+v\nwas\n%+v", err, plain, config)
	}
	if _, err := json.Marshal(rule.Limit{Limit: rule.Concurrency(0)}); err == nil {
		t.Error("a limit of nobody in flight was written")
	}
}

// read makes a set of rules as JSON.
func read(t *testing.T, text string) *rule.Set {
	t.Helper()
	config, err := rule.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, config)
}

// TestConcurrencyPlaces: permits have places of their own, beside those of rates, and a
// rule with one is never a plain one.
func TestConcurrencyPlaces(t *testing.T) {
	set := read(t, `{"rules": [{"name": "r", "limits": ["concurrency 4", "10/s", {"limit": "concurrency 2", "scope": "instance"}], "candidate": ["concurrency 3"]}]}`)
	m := new(rule.Matches)
	set.Match(&rule.Request{Path: "/"}, m)
	l := m.Hits[0].Limits
	var got []string
	for place := range rule.Places {
		for _, plan := range []*sluice.Plan{l.Enforce[place], l.Candidate[place]} {
			if plan != nil {
				got = append(got, fmt.Sprint(place, plan.Limits(), plan.Specs()[0].Ordinal, l.Names[place]))
			}
		}
	}
	want := "0 [10/s] 0 [r]; 3 [concurrency 4] 0 [r]; 3 [concurrency 3] 2 [r]; 4 [concurrency 2] 1 [r]"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if l.Only != nil {
		t.Error("the rule counts as one with nothing but a rate")
	}
}

func TestHasConcurrency(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   bool
	}{
		{`"limits": ["10/s"]`, false},
		{`"limits": ["concurrency 4"]`, true},
		{`"limits": ["concurrency 4"], "mode": "shadow"`, true},
		{`"limits": ["concurrency 4"], "mode": "off"`, false},
		{`"limits": ["10/s"], "candidate": ["concurrency 4"]`, true},
		{`"limits": ["10/s"], "key": ["ip"], "overrides": [{"keys": ["192.0.2.1"], "limits": ["concurrency 4"]}]`, true},
	} {
		set := read(t, `{"rules": [{"name": "r", `+c.fields+`}]}`)
		if got := set.HasConcurrency(); got != c.want {
			t.Errorf("%s: %v", c.fields, got)
		}
	}
}

// TestConcurrencyFindings: what means nothing beside a limit of concurrency is refused,
// with a reason.
func TestConcurrencyFindings(t *testing.T) {
	for _, c := range []struct{ fields, field, words string }{
		{`"limits": ["concurrency 4"]`, "", ""},
		{`"limits": ["concurrency 4", "10/s"], "cost": 2`, "", ""},
		{`"limits": ["concurrency 4"], "candidate": ["concurrency 3"]`, "", ""},
		{`"limits": ["concurrency 4"], "scope": "instance"`, "", ""},
		{`"limits": ["concurrency 4"], "scope": "split"`, "limits[0].scope", "concurrency cannot be split"},
		{`"limits": ["9/s"], "candidate": [{"limit": "concurrency 4", "scope": "split"}]`, "candidate[0].scope", "cannot be split"},
		{`"limits": ["9/s"], "key": ["ip"], "overrides": [{"keys": ["192.0.2.1"], "limits": [{"limit": "concurrency 4", "scope": "split"}]}]`, "overrides[0].limits[0].scope", "cannot be split"},
		{`"limits": ["concurrency 4", "10/s"], "wait": "1s"`, "wait", "nobody can say when a permit"},
		{`"limits": ["concurrency 4"], "cost": 2`, "cost", "takes one permit"},
		{`"limits": ["concurrency 4"], "cost": {"response": "X-Cost"}`, "cost", "takes one permit"},
		{`"limits": ["concurrency 4", "concurrency 9"]`, "limits[1].limit", "can never bind"},
		{`"limits": ["concurrency 4", "concurrency 4"]`, "limits[1].limit", "can never bind"},
	} {
		config, err := rule.ParseJSON([]byte(`{"rules": [{"name": "r", ` + c.fields + `}]}`))
		if err != nil {
			t.Fatal(c.fields, err)
		}
		findings := rule.Validate(config)
		switch {
		case c.field == "" && len(findings) == 0:
		case len(findings) != 1 || findings[0].Field != c.field || !strings.Contains(findings[0].Reason, c.words) || findings[0].Hint == "":
			t.Errorf("%s\ngot  %v\nwant %s: %s", c.fields, findings, c.field, c.words)
		}
	}
	bad := rule.Config{Rules: []rule.Rule{{Name: "r", Limits: []rule.Limit{{Limit: rule.Concurrency(3).WithBurst(2)}, {Limit: rule.Concurrency(0)}}}}}
	if findings := rule.Validate(bad); len(findings) != 2 || !strings.Contains(findings[0].Reason, "burst") || !strings.Contains(findings[1].Reason, "0 is out of range") {
		t.Errorf("got %v", findings)
	}
}

func ExampleConcurrency() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:   "reports",
		Key:    []string{"ip"},
		Limits: []rule.Limit{{Limit: rule.Concurrency(4)}, {Limit: sluice.PerMinute(60)}},
	}}})
	fmt.Println(set.Config().Rules[0].Limits, set.HasConcurrency(), err)
	// Output: [{ concurrency 4 } { 60/m }] true <nil>
}
