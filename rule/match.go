package rule

import (
	"net/http"
	"net/netip"
	"slices"
	"unsafe"

	"github.com/sluice-limiter/sluice/store"
)

// Matches is what Match found. Its zero value is ready to use.
type Matches struct {
	Hits []Hit
	// Ambiguous means that the path can be read in more than one way and an enforced
	// rule depends on it: the request is to be refused. That rule is the only hit then.
	Ambiguous bool
	Path      string // in canonical form

	exchange exchange
	found    []lead
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
	// Denied means that the rule denies the request without a look at its limits, and
	// Key is empty: a part of the key is missing, or the path is ambiguous.
	Denied    bool
	Ambiguous bool // the latter
}

// KeyText returns the key as text, without copying it: it changes when the Matches is
// used again, so that whoever keeps it has to clone it.
func (h *Hit) KeyText() string { return textOf(h.Key) }

// textOf returns bytes as text, without copying them.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

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
	asked   []int32       // slots of those that were asked for
	shown   shown

	nodes   []int32 // to be visited
	numbers []int32 // that a table of a rule has found
	text    []byte
}

type headerValue struct {
	value string
	round uint64
}

// header returns the first value of a header field. It is asked for only once.
func (x *exchange) header(slot int) string {
	if h := &x.headers[slot]; h.round == x.round {
		return h.value
	}
	return x.ask(slot)
}

func (x *exchange) ask(slot int) string {
	value := ""
	name := x.core.headers[slot]
	switch header := x.request.Header.(type) {
	case nil:
	case http.Header:
		// The name is canonical already, so that Get would spend its time for nothing.
		if values := header[name]; len(values) > 0 {
			value = values[0]
		}
	default:
		value = header.Get(name)
	}
	x.headers[slot] = headerValue{value, x.round}
	x.asked = append(x.asked, int32(slot))
	return value
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
	var canonical bool
	if x.ends, canonical = scanPath(r.Path, c.foldPaths, x.ends[:0]); canonical {
		x.path = r.Path
		return false
	}
	x.path, x.ends, ambiguous = canonicalPath(r.Path, c.foldPaths, x.ends)
	return ambiguous
}

// end lets go of the request.
func (x *exchange) end() {
	x.request, x.core, x.host = nil, nil, ""
	for _, slot := range x.asked {
		x.headers[slot].value = ""
	}
	x.asked = x.asked[:0]
	if x.shown.read {
		x.shown = shown{}
	}
}

// shown is a request as conditions see it.
type shown struct {
	Request
	read bool
}

// show returns the request with its path and address as rules take them.
func (x *exchange) show() *Request {
	if !x.shown.read {
		x.shown = shown{*x.request, true}
		x.shown.Path, x.shown.IP = x.path, x.ip
	}
	return &x.shown.Request
}

// Match finds the rules for r that are not off, with key, cost and limits of each,
// in the order of the configuration. m is overwritten; it can be used again and
// again, so that nothing is allocated.
func (s *Set) Match(r *Request, m *Matches) {
	x := &m.exchange
	m.Hits, m.keys, m.found = m.Hits[:0], m.keys[:0], m.found[:0]
	m.Ambiguous = false
	odd := x.begin(s.core, r)
	m.Path = x.path
	if odd && s.refuseAmbiguous {
		s.matchAmbiguous(m)
	} else {
		m.found = s.nodes[0].collect(x, m.found)
		if !slices.IsSorted(m.found) {
			sortFound(m.found)
		}
		for i, c := range m.found {
			if i == 0 || c.rule() != m.found[i-1].rule() {
				s.hit(c, m)
			}
		}
	}
	x.end()
}

// sortFound sorts a list that is mostly short.
func sortFound(found []lead) {
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
func (s *Set) hit(found lead, m *Matches) {
	x, c := &m.exchange, s.rules[found.rule()]
	x.pattern = 0
	if open := c.asks &^ found.proven(); open != 0 && c.failing(x, open) != fits {
		return
	}
	if c.exempts && c.exempt(x) != fits {
		return
	}
	start := len(m.keys)
	key, from, ok := c.key.appendKey(m.keys, x)
	limits, enforced := s.limits[found.rule()].base, c.enforces
	if !ok {
		s.miss(c, m)
		return
	}
	if c.picks {
		if limits, enforced = s.pick(c, key[from:]); limits == nil {
			return
		}
	}
	if c.hashes || len(key)-start > store.MaxKey {
		key = c.key.hide(key, from)
	}
	m.keys = key
	n := len(m.Hits)
	if n == cap(m.Hits) {
		m.Hits = append(m.Hits, Hit{})
	}
	m.Hits = m.Hits[:n+1]
	h := &m.Hits[n] // its fields are set one by one, all of them: that spares a copy
	h.Rule, h.Key, h.Limits = c, key[start:len(key):len(key)], limits
	h.Cost, h.Enforced, h.Denied, h.Ambiguous = c.costOf(x), enforced, false, false
}

// miss adds a rule to the hits that denies whom it has no key for.
func (s *Set) miss(c *Compiled, m *Matches) {
	if c.Missing == MissingDeny {
		enforced := c.enforces && c.rollout == wholeRollout
		m.Hits = append(m.Hits, Hit{Rule: c, Limits: s.limits[c.Index].base, Cost: c.costOf(&m.exchange), Enforced: enforced, Denied: true})
	}
}

// pick returns the limits of a key and whether they are enforced; no limits if the
// key is exempt.
func (s *Set) pick(c *Compiled, values []byte) (limits *Limits, enforced bool) {
	if c.skipKeys.find(values) >= 0 {
		return nil, false
	}
	return s.limits[c.Index].find(c.overrides.find(values)), c.enforces && c.rolledOut(values)
}
