package sluiceotel

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
)

// MaxRules is how many rules are told apart. What others do is counted for the rule
// [Other], so that the number of series is bounded whatever happens.
const MaxRules = 10_000

// Other is the name of rules beyond MaxRules. No rule can have it.
const Other = "(other)"

// Observer counts decisions. It is safe for concurrent use. A request only adds to
// numbers in memory; the SDK reads them when it collects.
type Observer struct {
	counters     [counters]metric.Int64ObservableCounter
	registration metric.Registration
	requests     series
	rules        atomic.Pointer[map[string]*series] // by name; replaced, never changed
	mu           sync.Mutex                         // one replacement at a time
	maxRules     int
}

var _ engine.Observer = (*Observer)(nil)

// series are numbers of one rule, or of all requests.
type series [cells]atomic.Int64

// New returns an observer whose metrics, which the README lists, are read by meter.
// Close it when they shall be read no more.
func New(meter metric.Meter) (*Observer, error) {
	o := &Observer{maxRules: MaxRules}
	o.rules.Store(&map[string]*series{})
	if err := o.create(meter); err != nil {
		return nil, err
	}
	var all []metric.Observable
	for _, c := range o.counters {
		all = append(all, c)
	}
	var err error
	o.registration, err = meter.RegisterCallback(o.report, all...)
	return o, err
}

// Close ends the reading. Observe may still be called.
func (o *Observer) Close() error { return o.registration.Unregister() }

// Observe counts a decision.
func (o *Observer) Observe(e *engine.Event) {
	switch {
	case e.Left:
		o.requests[requestLeft].Add(1)
	case e.Err != nil:
		o.requests[requestFailed].Add(1)
	case e.Decision.Allowed:
		o.requests[requestAllowed].Add(1)
	default:
		o.requests[requestDenied].Add(1)
	}
	if len(e.Outcomes) == 0 && e.Err == nil && e.Decision.Reason != sluice.Ambiguous {
		o.requests[requestUncovered].Add(1)
	}
	known := *o.rules.Load()
	for i := range e.Outcomes {
		out := &e.Outcomes[i]
		s := known[out.Rule.Name]
		if s == nil {
			s = o.add(out.Rule.Name)
		}
		s.count(out)
	}
}

func (s *series) count(o *engine.Outcome) {
	switch {
	case o.Undecided:
		s[undecided].Add(1)
	case o.Allowed:
		s[allowed].Add(1)
	case o.Enforced:
		s[denied].Add(1)
	default:
		s[shadowDenied].Add(1)
	}
	switch o.Candidate {
	case engine.CandidateAllows:
		s[candidateAllowed].Add(1)
	case engine.CandidateDenies:
		s[candidateDenied].Add(1)
	}
	s[costOffered].Add(o.Cost)
	if o.Spent {
		s[costAdmitted].Add(o.Cost)
	}
	if o.Degraded {
		s[degraded].Add(1)
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
	grown := maps.Clone(old)
	grown[name] = new(series)
	o.rules.Store(&grown)
	return grown[name]
}

// report tells the SDK what was counted.
func (o *Observer) report(_ context.Context, to metric.Observer) error {
	o.tell(to, &o.requests)
	for name, s := range *o.rules.Load() {
		o.tell(to, s, attribute.String("sluice.rule", name))
	}
	return nil
}

func (o *Observer) tell(to metric.Observer, s *series, about ...attribute.KeyValue) {
	for i, c := range table {
		n := s[i].Load()
		switch {
		case n == 0:
		case c.outcome == "":
			to.ObserveInt64(o.counters[c.counter], n, metric.WithAttributes(about...))
		default:
			outcome := attribute.String("sluice.outcome", c.outcome)
			to.ObserveInt64(o.counters[c.counter], n, metric.WithAttributes(outcome), metric.WithAttributes(about...))
		}
	}
}
