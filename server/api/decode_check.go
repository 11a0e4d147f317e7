package api

import "unsafe"

// fill takes over a request that encoding/json has read.
func (it *item) fill(w *Request) {
	r := &it.request
	r.Method, r.Host, r.Path, r.Query, r.User = w.Method, w.Host, w.Path, w.Query, w.User
	r.Cost, r.Length, it.ip = w.Cost, w.Length, w.IP
	for name, value := range w.Headers {
		it.headers = append(it.headers, header{name, value})
	}
	if len(w.Attributes) > 0 {
		it.attributes = w.Attributes
	}
}

// parseCheck reads the body of a check. The texts of its requests are the very bytes of
// the body, which stay as they are until the answer is written: the engine copies what
// it keeps of a request, and its observers have to.
func (x *exchange) parseCheck() *Problem {
	if x.parsed.decode(unsafe.String(unsafe.SliceData(x.body), len(x.body))) {
		return nil
	}
	x.parsed.clear()
	var w CheckRequest
	if p := decodeStrict(x.body, &w); p != nil {
		return p
	}
	x.parsed.status, x.parsed.batch = w.Status, w.Requests != nil
	if !x.parsed.batch {
		x.parsed.next().fill(&w.Request)
		return x.parsed.finish()
	}
	if !w.Request.empty() {
		return at("requests", "stands beside the fields of a single request", "move these into the list")
	}
	for i := range w.Requests {
		x.parsed.next().fill(&w.Requests[i])
	}
	return x.parsed.finish()
}

// empty reports whether nothing is given.
func (w *Request) empty() bool {
	return w.Method == "" && w.Host == "" && w.Path == "" && w.Query == "" && w.IP == "" && w.User == "" &&
		w.Headers == nil && w.Attributes == nil && w.Cost == 0 && w.Length == 0
}

// parseOne reads a body that is a single request and nothing else.
func (x *exchange) parseOne() *Problem {
	if x.parsed.decode(string(x.body)) && !x.parsed.special {
		return nil
	}
	var w Request
	return x.parseInto(&w, &w)
}

// parseInto reads a body into one of the wire types; r is the request in it.
func (x *exchange) parseInto(w any, r *Request) *Problem {
	x.parsed.clear()
	if p := decodeStrict(x.body, w); p != nil {
		return p
	}
	x.parsed.next().fill(r)
	return x.parsed.finish()
}
