package rule

import (
	"net/netip"
	"strings"
)

// canonicalHost returns a host in lower case, without port and without the dot at
// the end. Nothing is allocated if it is so already.
func canonicalHost(h string) string {
	if strings.HasPrefix(h, "[") {
		return bracketed(h)
	}
	if colon := strings.IndexByte(h, ':'); colon >= 0 {
		if strings.IndexByte(h[colon+1:], ':') >= 0 { // an IPv6 address without brackets
			return bracketed("[" + h + "]")
		}
		h = h[:colon]
	}
	return strings.ToLower(strings.TrimSuffix(h, "."))
}

// bracketed returns an IPv6 literal in the one way to write it, without what stands
// after the bracket.
func bracketed(h string) string {
	end := strings.IndexByte(h, ']')
	if end < 0 {
		return strings.ToLower(h)
	}
	addr, err := netip.ParseAddr(h[1:end])
	if err != nil {
		return strings.ToLower(h[:end+1])
	}
	var buffer [64]byte
	text := addr.AppendTo(append(buffer[:0], '['))
	if text = append(text, ']'); string(text) == h[:end+1] {
		return h[:end+1]
	}
	return string(text)
}

// hostTable finds the values of a host and of the wildcards that it is below.
type hostTable[T any] struct {
	exact  map[string]*T
	below  map[string]*T // *.example.com by example.com
	fewest int           // labels of a wildcard
	most   int
}

// add puts a value at a host or a wildcard.
func (t *hostTable[T]) add(host string, value *T) {
	if parent, ok := strings.CutPrefix(host, "*."); ok {
		if t.below == nil {
			t.below = map[string]*T{}
		}
		t.below[parent] = value
		labels := strings.Count(parent, ".") + 1
		if t.fewest == 0 {
			t.fewest = labels
		}
		t.fewest, t.most = min(t.fewest, labels), max(t.most, labels)
		return
	}
	if t.exact == nil {
		t.exact = map[string]*T{}
	}
	t.exact[host] = value
}

// find appends the values of a canonical host.
func (t *hostTable[T]) find(host string, to []*T) []*T {
	if value, ok := t.exact[host]; ok {
		to = append(to, value)
	}
	for parent := range t.parents(host) {
		if value, ok := t.below[parent]; ok {
			to = append(to, value)
		}
	}
	return to
}

// has reports whether the host or a wildcard for it is there.
func (t *hostTable[T]) has(host string) bool {
	for parent := range t.parents(host) {
		if t.below[parent] != nil {
			return true
		}
	}
	return t.exact[host] != nil
}

// parents yields the domains that a host is below, as far as there can be a wildcard
// for them: from the right, and no further than the longest one, so that a host of a
// thousand labels is no more work than any other.
func (t *hostTable[T]) parents(host string) func(func(string) bool) {
	return func(yield func(string) bool) {
		end := len(host)
		for n := 1; n <= t.most; n++ {
			dot := strings.LastIndexByte(host[:end], '.')
			if dot < 0 || n >= t.fewest && !yield(host[dot+1:]) {
				return
			}
			end = dot
		}
	}
}

// hostFits reports whether a canonical host is meant by an entry of a rule.
func hostFits(entry, host string) bool {
	parent, wild := strings.CutPrefix(entry, "*")
	if !wild {
		return entry == host
	}
	return len(host) > len(parent) && strings.HasSuffix(host, parent)
}
