package api

import (
	"net/http"
	"sync/atomic"
)

// Places bounds how many requests are worked on at the same time. Nobody waits for a
// place: who finds none is turned away while that is still cheap. A nil Places has no
// bound.
type Places struct {
	limit int64
	taken atomic.Int64
	shed  func()
}

// NewPlaces returns so many places. shed, if not nil, is called for each request that
// finds none.
func NewPlaces(limit int64, shed func()) *Places {
	if shed == nil {
		shed = func() {}
	}
	return &Places{limit: limit, shed: shed}
}

// Limit returns how many there are.
func (p *Places) Limit() int64 { return p.limit }

// Taken returns how many requests have a place.
func (p *Places) Taken() int64 { return min(p.taken.Load(), p.limit) } // more are about to leave

// Enter takes a place, if there is one. Who has one has to Leave.
func (p *Places) Enter() bool {
	if p == nil || p.taken.Add(1) <= p.limit {
		return true
	}
	p.taken.Add(-1)
	p.shed()
	return false
}

// refuse turns a request away for another reason than the number of places.
func (p *Places) refuse() *Problem {
	if p != nil {
		p.shed()
	}
	return overloaded()
}

// Leave gives a place back.
func (p *Places) Leave() {
	if p != nil {
		p.taken.Add(-1)
	}
}

// overloaded is what a request gets that is too much.
func overloaded() *Problem {
	return problem(http.StatusServiceUnavailable, "overloaded", "this server has more requests than it takes",
		"try again after a second, or raise limits.in_flight")
}
