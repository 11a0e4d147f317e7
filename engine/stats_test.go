package engine

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// TestStats: what each kind of answer counts as.
func TestStats(t *testing.T) {
	rules := watchedRules("a", "b")
	with := func(o Outcome, change func(*Outcome)) Outcome {
		change(&o)
		return o
	}
	shadow := with(said(rules[1], "ann", false), func(o *Outcome) { o.Enforced = false })
	failed := happened(with(said(rules[0], "ann", true), func(o *Outcome) { o.Undecided, o.Spent = true, false }))
	failed.Err, failed.Decision = errors.New("no answer"), Decision{}
	degraded := happened(with(said(rules[0], "ann", true), func(o *Outcome) { o.Degraded = true }))
	degraded.Decision.Degraded = true
	ambiguous := happened()
	ambiguous.Decision = refusal(sluice.Ambiguous, nil)
	noRule := happened()
	noRule.Decision = refusal(sluice.NoRule, nil)
	for _, c := range []struct {
		name  string
		event *Event
		want  Stats
		a, b  RuleStats
	}{
		{
			"allowed", happened(said(rules[0], "ann", true)),
			Stats{Requests: 1, Allowed: 1},
			RuleStats{Requests: 1, Allowed: 1, CostOffered: 1, CostAdmitted: 1},
			RuleStats{},
		},
		{
			"of cost 7", happened(with(said(rules[1], "ann", true), func(o *Outcome) { o.Cost = 7 })),
			Stats{Requests: 1, Allowed: 1},
			RuleStats{},
			RuleStats{Requests: 1, Allowed: 1, CostOffered: 7, CostAdmitted: 7},
		},
		{
			"denied by one of two", happened(with(said(rules[0], "ann", true), func(o *Outcome) { o.Spent = false }), said(rules[1], "ann", false)),
			Stats{Requests: 1, Denied: 1},
			RuleStats{Requests: 1, Allowed: 1, CostOffered: 1},
			RuleStats{Requests: 1, Denied: 1, CostOffered: 1},
		},
		{
			"denied in shadow", happened(said(rules[0], "ann", true), shadow),
			Stats{Requests: 1, Allowed: 1, Shadow: 1},
			RuleStats{Requests: 1, Allowed: 1, CostOffered: 1, CostAdmitted: 1},
			RuleStats{Requests: 1, ShadowDenied: 1, CostOffered: 1},
		},
		{
			"denied by a candidate", happened(with(said(rules[0], "ann", true), func(o *Outcome) { o.Candidate = CandidateDenies })),
			Stats{Requests: 1, Allowed: 1},
			RuleStats{Requests: 1, Allowed: 1, CandidateDenied: 1, CostOffered: 1, CostAdmitted: 1},
			RuleStats{},
		},
		{"degraded", degraded, Stats{Requests: 1, Allowed: 1, Degraded: 1}, RuleStats{Requests: 1, Allowed: 1, Degraded: 1, CostOffered: 1, CostAdmitted: 1}, RuleStats{}},
		{"failed", failed, Stats{Requests: 1, Errors: 1}, RuleStats{Requests: 1, Undecided: 1, CostOffered: 1}, RuleStats{}},
		{"no rule", happened(), Stats{Requests: 1, Allowed: 1, NoRule: 1}, RuleStats{}, RuleStats{}},
		{"no rule, denied", noRule, Stats{Requests: 1, Denied: 1, NoRule: 1}, RuleStats{}, RuleStats{}},
		{"ambiguous", ambiguous, Stats{Requests: 1, Denied: 1}, RuleStats{}, RuleStats{}},
	} {
		w, _ := watchAt(rules)
		w.observe(c.event)
		c.a.Rule, c.b.Rule = "a", "b"
		c.want.Rules = []RuleStats{c.a, c.b}
		if got := w.stats(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestStatsOverSwap: rules that keep their name keep their numbers wherever they stand,
// others start from 0, and late answers of the old set still count.
func TestStatsOverSwap(t *testing.T) {
	old := watchedRules("a", "b", "c")
	w, _ := watchAt(old)
	late := happened(said(old[0], "ann", true), said(old[1], "ann", true))
	w.observe(late)
	w.observe(happened(said(old[0], "ann", true)))
	w.swapRules(watchedRules("d", "b", "e", "a"))
	w.observe(late)
	got := map[string]int64{}
	for _, r := range w.stats().Rules {
		got[r.Rule] = r.Requests
	}
	if want := map[string]int64{"a": 3, "b": 2, "d": 0, "e": 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	w.swapRules(nil)
	w.swapRules(old)
	if s := w.stats(); s.Rules[0].Requests != 0 || s.Requests != 3 {
		t.Errorf("a rule that came back did not start from 0: %+v", s)
	}
}

// TestCostNeverOverflows: a sum of costs stays at the greatest number.
func TestCostNeverOverflows(t *testing.T) {
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	o := said(rules[0], "ann", true)
	o.Cost = math.MaxInt64 - 1
	for range 3 {
		w.observe(happened(o))
	}
	if r := w.stats().Rules[0]; r.CostOffered != math.MaxInt64 || r.CostAdmitted != math.MaxInt64 {
		t.Errorf("got %+v", r)
	}
}
