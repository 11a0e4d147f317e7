package rule

import (
	"net/netip"
	"slices"
	"unsafe"
)

// Matches is what Match found. Its zero value is ready to use.
type Matches struct {
	Hits []Hit
	// Ambiguous means that the path can be read in more than one way and rules depend
	// on it: the request is to be refused. Hits is empty then.
	Ambiguous bool
	Path      string // in canonical form

	exchange exchange
	found    []candidate
	keys     []byte
}

// Hit is a rule that applies to a request. Its key lies in a buffer of the Matches
// and is good until that is used again: see KeyText.
type Hit struct {
	Rule     *Compiled
	Key      []byte  // whose budget, at the store
	Limits   *Limits // the rule's, or those of an override
	Cost     int64
	Enforced bool // false: everything is shadow, by mode or rollout
	Denied   bool // a part of the key is missing and the rule denies that: Key is empty
}

// KeyText returns the key as text, without copying it: it changes when the Matches is
// used again, so that whoever keeps it has to clone it.
func (h *Hit) KeyText() string { return unsafe.String(unsafe.SliceData(h.Key), len(h.Key)) }

// exchange is a request while it is matched: what of it was worked out, and buffers.
type exchange struct {
	request *Request
	core    *core
	path    string
	ends    []int32 // where its segments end
	host    string
	ip      netip.Addr
	pattern int // which path of the rule's match it is

	headers []headerValue // by slot
	round   uint64        // tells fresh values from those of earlier requests

	nodes   []*node // to be visited
	numbers []*int
	values  []byte  // the parts of a key
	cuts    []int32 // where each ends
	text    []byte
}

type headerValue struct {
	value string
	round uint64
}

// header returns the first value of a header field. It is asked for only once.
func (x *exchange) header(slot int) string {
	h := &x.headers[slot]
	if h.round != x.round {
		h.round, h.value = x.round, ""
		if x.request.Header != nil {
			h.value = x.request.Header.Get(x.core.headers[slot])
		}
	}
	return h.value
}

// begin reads r. It reports whether its path is ambiguous.
func (x *exchange) begin(c *core, r *Request) (ambiguous bool) {
	x.core, x.request = c, r
	x.round++
	for len(x.headers) < len(c.headers) {
		x.headers = append(x.headers, headerValue{})
	}
	x.ip = cleanAddr(r.IP)
	if c.needsHost {
		x.host = canonicalHost(r.Host)
	}
	x.path, x.ends, ambiguous = canonicalPath(r.Path, c.config.Paths.FoldCase, x.ends)
	return ambiguous
}

// end lets go of the request.
func (x *exchange) end() {
	x.request, x.core, x.host = nil, nil, ""
	for i := range x.headers {
		if x.headers[i].round == x.round {
			x.headers[i].value = ""
		}
	}
}

// Match finds the rules for r that are not off, with key, cost and limits of each,
// in the order of the configuration. m is overwritten; it can be used again and
// again, so that nothing is allocated.
func (s *Set) Match(r *Request, m *Matches) {
	x := &m.exchange
	m.Hits, m.keys, m.found = m.Hits[:0], m.keys[:0], m.found[:0]
	m.Ambiguous = x.begin(s.core, r) && s.refuseAmbiguous
	m.Path = x.path
	if !m.Ambiguous {
		m.found = s.root.collect(x, m.found)
		sortFound(m.found)
		for i, c := range m.found {
			if i == 0 || c.rule() != m.found[i-1].rule() {
				s.hit(c, m)
			}
		}
	}
	x.end()
}

// sortFound sorts a list that is mostly short.
func sortFound(found []candidate) {
	if len(found) > 12 {
		slices.Sort(found)
		return
	}
	for i := 1; i < len(found); i++ {
		for j := i; j > 0 && found[j] < found[j-1]; j-- {
			found[j], found[j-1] = found[j-1], found[j]
		}
	}
}

// hit adds a rule to the hits if it applies.
func (s *Set) hit(found candidate, m *Matches) {
	x, c := &m.exchange, s.rules[found.rule()]
	if c.failing(x, found) != fits || c.exempt(x) != noField {
		return
	}
	if !c.key.values(x) {
		if c.Missing == MissingDeny {
			m.Hits = append(m.Hits, Hit{Rule: c, Limits: s.limits[c.Index].base, Cost: c.costOf(x), Enforced: c.Mode == Enforce && c.rollout == wholeRollout, Denied: true})
		}
		return
	}
	if !c.skipKeys.empty() && c.skipKeys.find(x) >= 0 {
		return
	}
	limits := s.limits[c.Index].base
	if !c.overrides.empty() {
		limits = s.limits[c.Index].find(c.overrides.find(x))
	}
	start := len(m.keys)
	m.keys = c.key.key(m.keys, x)
	m.Hits = append(m.Hits, Hit{
		Rule:     c,
		Key:      m.keys[start:len(m.keys):len(m.keys)],
		Limits:   limits,
		Cost:     c.costOf(x),
		Enforced: c.Mode == Enforce && c.rolledOut(x.values),
	})
}
