package sluiceotel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

const counters = 7

// create makes the counters. Their names are an interface: see the README.
func (o *Observer) create(meter metric.Meter) (err error) {
	for i, c := range [counters]struct{ name, unit, about string }{
		{"sluice.requests", "{request}", "Requests by what became of them."},
		{"sluice.requests.uncovered", "{request}", "Requests that no rule matched."},
		{"sluice.decisions", "{decision}", "What each rule said to the requests that it matched."},
		{"sluice.decisions.candidate", "{decision}", "What the candidate limits of each rule would have said."},
		{"sluice.decisions.degraded", "{decision}", "Decisions of each rule that were made without the store."},
		{"sluice.cost.offered", "{cost}", "Cost of all requests that each rule matched: the offered load."},
		{"sluice.cost.admitted", "{cost}", "Cost that was charged to the limits of each rule."},
	} {
		made, e := meter.Int64ObservableCounter(c.name, metric.WithUnit(c.unit), metric.WithDescription(c.about))
		o.counters[i], err = made, errors.Join(err, e)
	}
	return err
}

// Numbers of a series.
const (
	requestAllowed, requestDenied, requestLeft, requestFailed, requestUncovered = 0, 1, 2, 3, 4
	allowed, denied, shadowDenied, undecided                                    = 5, 6, 7, 8
	candidateAllowed, candidateDenied                                           = 9, 10
	degraded, costOffered, costAdmitted                                         = 11, 12, 13
	cells                                                                       = 14
)

// table says what the numbers of a series are: which counter, and which outcome.
var table = [cells]struct {
	counter int
	outcome string
}{
	requestAllowed:   {0, "allowed"},
	requestDenied:    {0, "denied"},
	requestLeft:      {0, "left"},
	requestFailed:    {0, "error"},
	requestUncovered: {1, ""},
	allowed:          {2, "allowed"},
	denied:           {2, "denied"},
	shadowDenied:     {2, "shadow_denied"},
	undecided:        {2, "undecided"},
	candidateAllowed: {3, "allowed"},
	candidateDenied:  {3, "denied"},
	degraded:         {4, ""},
	costOffered:      {5, ""},
	costAdmitted:     {6, ""},
}
