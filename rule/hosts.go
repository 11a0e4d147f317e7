package rule

import (
	"net/netip"
	"strings"
)

// canonicalHost returns a host in lower case, without port and without the dot at
// the end. Nothing is allocated if it is so already.
func canonicalHost(h string) string {
	if isCanonicalHost(h) {
		return h
	}
	if strings.HasPrefix(h, "[") {
		return bracketed(h)
	}
	if colon := strings.IndexByte(h, ':'); colon >= 0 {
		if strings.IndexByte(h[colon+1:], ':') >= 0 { // an IPv6 address without brackets
			return bracketed("[" + h + "]")
		}
		h = h[:colon]
	}
	h = strings.TrimSuffix(h, ".")
	if isCanonicalHost(h) {
		return h
	}
	return strings.ToLower(h)
}

// isCanonicalHost recognizes most hosts that need no work, by a look at all of their
// bytes.
func isCanonicalHost(h string) bool {
	n := len(h)
	if n < 8 {
		return n == 0 || h[0] != '[' && h[n-1] != '.' && oddInHost(mixedWord(h))&marks == 0
	}
	odd := oddInHost(word(h[n-8:])) // some of it is looked at twice
	for i := 0; i < n-8; i += 8 {
		odd |= oddInHost(word(h[i:]))
	}
	return odd&marks == 0 && h[0] != '[' && h[n-1] != '.'
}

func oddInHost(w uint64) uint64 { return w | upper(w) | has(w, ':') }

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

// hostTable finds the numbers, above 0, of a host and of the wildcards that it is
// below.
type hostTable struct {
	exact  textTable
	below  textTable // *.example.com by example.com
	fewest int       // labels of a wildcard
	most   int
}

// add puts a number at a host or a wildcard.
func (t *hostTable) add(host string, number int32) {
	parent, ok := strings.CutPrefix(host, "*.")
	if !ok {
		t.exact.add(host, number)
		return
	}
	t.below.add(parent, number)
	labels := strings.Count(parent, ".") + 1
	if t.fewest == 0 {
		t.fewest = labels
	}
	t.fewest, t.most = min(t.fewest, labels), max(t.most, labels)
}

// find appends the numbers of a canonical host. Wildcards are tried from the right,
// and no further than the longest one, so that a host of a thousand labels is no more
// work than any other.
func (t *hostTable) find(host string, to []int32) []int32 {
	if number := t.exact.find(host); number != 0 {
		to = append(to, number)
	}
	end := len(host)
	for labels := 1; labels <= t.most; labels++ {
		dot := strings.LastIndexByte(host[:end], '.')
		if dot < 0 {
			break
		}
		if labels >= t.fewest {
			if number := t.below.find(host[dot+1:]); number != 0 {
				to = append(to, number)
			}
		}
		end = dot
	}
	return to
}

// hostFits reports whether a canonical host is meant by an entry of a rule. A host that
// begins with a dot counts as one below: some servers take it for such.
func hostFits(entry, host string) bool {
	parent, wild := strings.CutPrefix(entry, "*")
	if !wild {
		return entry == host
	}
	return strings.HasSuffix(host, parent)
}
