package recommend

import (
	"sort"
	"time"
)

// day is by what days are told apart: from the beginning of the part.
const day = int64(24 * time.Hour / time.Microsecond)

// part is a stretch of the traffic. Every key begins it with a fresh budget.
type part struct {
	traffic  *Traffic
	from, to int64
	days     int
	spans    []span // of keys that have requests in it
}

// span is what one key did in a part.
type span struct {
	key      int
	requests []request
	total    int64 // cost of all
	peaks    peaks
	why      string // it is not counted; empty: it is
}

// cut returns the part from an instant to another, which is not in it.
func (t *Traffic) cut(from, to int64, period time.Duration) *part {
	p := &part{traffic: t, from: from, to: to, days: int((to - from + day - 1) / day)}
	for i := range t.keys {
		all := t.requests[t.first[i]:t.first[i+1]]
		lo := sort.Search(len(all), func(j int) bool { return all[j].at >= from })
		hi := sort.Search(len(all), func(j int) bool { return all[j].at >= to })
		if lo < hi {
			p.spans = append(p.spans, newSpan(i, all[lo:hi], period.Microseconds()))
		}
	}
	return p
}

func newSpan(key int, requests []request, period int64) span {
	s := span{key: key, requests: requests}
	for i := range requests {
		s.total += requests[i].cost
	}
	for i, scale := range scales {
		s.peaks[i] = most(requests, period*scale)
	}
	return s
}

// peak is the most in any trailing period.
func (s *span) peak() int64 { return s.peaks[0] }

// most returns what the requests of any trailing time cost at most.
func most(requests []request, length int64) (peak int64) {
	inside, oldest := int64(0), 0
	for i := range requests {
		inside += requests[i].cost
		for requests[oldest].at <= requests[i].at-length {
			inside -= requests[oldest].cost
			oldest++
		}
		peak = max(peak, inside)
	}
	return peak
}

// dayOf returns on which day of the part an instant lies.
func (p *part) dayOf(at int64) int { return int((at - p.from) / day) }

// counted returns the numbers of the spans whose refusals are false, and how many
// requests those have.
func (p *part) counted() (spans []int, requests int64) {
	return p.where(func(s *span) bool { return s.why == "" })
}

// uncounted returns the others.
func (p *part) uncounted() (spans []int, requests int64) {
	return p.where(func(s *span) bool { return s.why != "" })
}

func (p *part) where(fits func(*span) bool) (spans []int, requests int64) {
	for i := range p.spans {
		if fits(&p.spans[i]) {
			spans = append(spans, i)
			requests += int64(len(p.spans[i].requests))
		}
	}
	return spans, requests
}
