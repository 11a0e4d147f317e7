package api

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
)

// parsed is the body of a check as the engine wants it. Its memory is used again.
type parsed struct {
	items   []item
	batch   bool
	status  bool
	special bool // one of the fields that a check alone has was there
}

// item is one request.
type item struct {
	request    engine.Request
	ip         string
	headers    headers
	attributes map[string]string
}

// most is how many headers, and how many attributes, a request may have.
const most = 100

// next returns a new item at the end.
func (p *parsed) next() *item {
	if n := len(p.items); n < cap(p.items) {
		p.items = p.items[:n+1] // what it held is cleared
	} else {
		p.items = append(p.items, item{})
	}
	return &p.items[len(p.items)-1]
}

// clear forgets everything but the memory.
func (p *parsed) clear() {
	for i := range p.items {
		it := &p.items[i]
		it.request, it.ip = engine.Request{}, ""
		clear(it.headers)
		it.headers = it.headers[:0]
		clear(it.attributes)
	}
	p.items, p.batch, p.status, p.special = p.items[:0], false, false, false
}

// finish checks all items and makes them ready for the engine.
func (p *parsed) finish() *Problem {
	if p.batch && p.status {
		return at("status", "has no meaning in a batch", "read allowed in each of the decisions")
	}
	if p.batch && len(p.items) == 0 { // too many do not get here
		return at("requests", "has no requests", fmt.Sprintf("send 1 to %d", MaxBatch))
	}
	for i := range p.items {
		if problem := p.items[i].finish(); problem != nil {
			if p.batch {
				return at(fmt.Sprintf("requests[%d].%s", i, problem.Field), strings.TrimPrefix(problem.Detail, problem.Field+": "), problem.Hint)
			}
			return problem
		}
	}
	return nil
}

// finish checks one item. It must not be moved after that.
func (it *item) finish() *Problem {
	r := &it.request
	if it.ip != "" {
		ip, err := netip.ParseAddr(it.ip)
		if err != nil {
			return at("ip", fmt.Sprintf("%.60q is no IP address", it.ip), "give the client's address alone, without port or brackets")
		}
		r.IP = ip
	}
	if path, query, ok := strings.Cut(r.Path, "?"); ok {
		if r.Query != "" {
			return at("query", "is given twice, here and in path", "give it once")
		}
		r.Path, r.Query = path, query
	}
	if r.Cost < 0 || r.Cost > algo.MaxCount {
		return at("cost", fmt.Sprintf("%d is out of range", r.Cost), "give 1 to 1e15, or leave it out for what the rules say")
	}
	if r.Length < -1 {
		return at("length", fmt.Sprintf("%d is out of range", r.Length), "give the size of the body in bytes, or -1 if it is not known")
	}
	if name := it.headers.twice(); name != "" {
		return at("headers", fmt.Sprintf("%.60q is given twice", name), "give each name once; upper and lower case are the same")
	}
	if len(it.headers) > 0 {
		r.Header = &it.headers
	}
	if len(it.attributes) > 0 {
		r.Attributes = it.attributes
	}
	return nil
}
