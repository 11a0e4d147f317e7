package sluiceprometheus

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// MaxRules is how many rules get series of their own. What others do is counted for
// the rule [Other], so that the number of series is bounded whatever happens.
const MaxRules = 10_000

// Other is the label of rules beyond MaxRules. No rule can have this name.
const Other = "(other)"

// Observer counts decisions. It is safe for concurrent use.
type Observer struct {
	requests, decisions, candidates     *prometheus.CounterVec
	degraded, costOffered, costAdmitted *prometheus.CounterVec
	uncovered                           prometheus.Counter
	allowed, denied, left, failed       prometheus.Counter // of requests

	rules atomic.Pointer[map[string]*series] // by name; replaced, never changed
	mu    sync.Mutex                         // one replacement at a time

	maxRules int
}

var _ interface {
	engine.Observer
	prometheus.Collector
} = (*Observer)(nil)

// series are the counters of one rule, looked up once.
type series struct {
	name                                               string
	allowed, denied, shadowDenied, undecided, degraded prometheus.Counter
	costOffered, costAdmitted                          prometheus.Counter
}

// New returns an observer with these metrics:
//
//	sluice_requests_total{outcome}                   allowed, denied, left, error
//	sluice_uncovered_requests_total                  matched by no rule
//	sluice_decisions_total{rule, outcome}            allowed, denied, shadow_denied, undecided
//	sluice_candidate_decisions_total{rule, outcome}  allowed, denied
//	sluice_degraded_decisions_total{rule}            decided without the store
//	sluice_cost_offered_total{rule}                  cost of all requests that the rule matched
//	sluice_cost_admitted_total{rule}                 cost that was charged to its limits
func New() *Observer {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sluice", Name: name, Help: help}, labels)
	}
	o := &Observer{
		maxRules:     MaxRules,
		requests:     vec("requests_total", "Requests by what became of them: allowed, denied, left if the caller had gone before it was decided, or error if it could not be.", "outcome"),
		decisions:    vec("decisions_total", "What each rule said to the requests that it matched: allowed, denied, shadow_denied if it is not enforced and would have denied, or undecided if others had denied first or an error came.", "rule", "outcome"),
		candidates:   vec("candidate_decisions_total", "What the candidate limits of each rule would have said: allowed or denied.", "rule", "outcome"),
		degraded:     vec("degraded_decisions_total", "Decisions of each rule that were made without the store.", "rule"),
		costOffered:  vec("cost_offered_total", "Cost of all requests that each rule matched, whether admitted or not: the offered load.", "rule"),
		costAdmitted: vec("cost_admitted_total", "Cost that was charged to the limits of each rule.", "rule"),
		uncovered: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "sluice", Name: "uncovered_requests_total", Help: "Requests that no rule matched.",
		}),
	}
	o.allowed = o.requests.WithLabelValues("allowed")
	o.denied = o.requests.WithLabelValues("denied")
	o.left = o.requests.WithLabelValues("left")
	o.failed = o.requests.WithLabelValues("error")
	o.rules.Store(&map[string]*series{})
	return o
}

// Observe counts a decision.
func (o *Observer) Observe(e *engine.Event) {
	switch {
	case e.Left:
		o.left.Inc()
	case e.Err != nil:
		o.failed.Inc()
	case e.Decision.Allowed:
		o.allowed.Inc()
	default:
		o.denied.Inc()
	}
	if len(e.Outcomes) == 0 && e.Err == nil && e.Decision.Reason != sluice.Ambiguous {
		o.uncovered.Inc()
	}
	known := *o.rules.Load()
	for i := range e.Outcomes {
		out := &e.Outcomes[i]
		s := known[out.Rule.Name]
		if s == nil {
			s = o.add(out.Rule.Name)
		}
		s.count(out)
		switch out.Candidate {
		case engine.CandidateAllows:
			o.candidates.WithLabelValues(s.name, "allowed").Inc()
		case engine.CandidateDenies:
			o.candidates.WithLabelValues(s.name, "denied").Inc()
		}
	}
}

func (s *series) count(o *engine.Outcome) {
	switch {
	case o.Undecided:
		s.undecided.Inc()
	case o.Allowed:
		s.allowed.Inc()
	case o.Enforced:
		s.denied.Inc()
	default:
		s.shadowDenied.Inc()
	}
	s.costOffered.Add(float64(o.Cost))
	if o.Spent {
		s.costAdmitted.Add(float64(o.Cost))
	}
	if o.Degraded {
		s.degraded.Inc()
	}
}

// add makes the series of a rule that is seen for the first time.
func (o *Observer) add(name string) *series {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := *o.rules.Load()
	if old[name] == nil && len(old) >= o.maxRules {
		name = Other
	}
	if s := old[name]; s != nil {
		return s
	}
	s := &series{
		name:         name,
		allowed:      o.decisions.WithLabelValues(name, "allowed"),
		denied:       o.decisions.WithLabelValues(name, "denied"),
		shadowDenied: o.decisions.WithLabelValues(name, "shadow_denied"),
		undecided:    o.decisions.WithLabelValues(name, "undecided"),
		degraded:     o.degraded.WithLabelValues(name),
		costOffered:  o.costOffered.WithLabelValues(name),
		costAdmitted: o.costAdmitted.WithLabelValues(name),
	}
	grown := maps.Clone(old)
	grown[name] = s
	o.rules.Store(&grown)
	return s
}

// Keep drops the series of all rules that are not in set. Call it after Engine.Swap;
// otherwise rules that are gone keep theirs.
func (o *Observer) Keep(set *rule.Set) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone, kept := maps.Clone(*o.rules.Load()), map[string]*series{}
	for _, r := range set.Rules() {
		if s := gone[r.Name]; s != nil {
			kept[r.Name] = s
			delete(gone, r.Name)
		}
	}
	o.rules.Store(&kept)
	for name := range gone {
		for _, vec := range []*prometheus.CounterVec{o.decisions, o.candidates, o.degraded, o.costOffered, o.costAdmitted} {
			vec.DeletePartialMatch(prometheus.Labels{"rule": name})
		}
	}
}

// Describe is for the registry.
func (o *Observer) Describe(to chan<- *prometheus.Desc) {
	for _, c := range o.all() {
		c.Describe(to)
	}
}

// Collect is for the registry.
func (o *Observer) Collect(to chan<- prometheus.Metric) {
	for _, c := range o.all() {
		c.Collect(to)
	}
}

func (o *Observer) all() []prometheus.Collector {
	return []prometheus.Collector{o.requests, o.uncovered, o.decisions, o.candidates, o.degraded, o.costOffered, o.costAdmitted}
}
