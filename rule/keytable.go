package rule

import (
	"math/bits"
	"slices"
	"strings"
)

// keyTable finds the first entry of a list of keys that a key fits. Entries without
// wildcards are found in one step, however many there are.
type keyTable struct {
	exact map[string]int // number of the first entry with that key
	wild  []wildKey      // in order
}

type wildKey struct {
	entry int
	parts []string // escaped; "*" stands for any
}

// add adds escaped values as a key of an entry. Entries come in order.
func (t *keyTable) add(entry int, values []string) {
	if contains(values, "*") {
		t.wild = append(t.wild, wildKey{entry, values})
		return
	}
	if t.exact == nil {
		t.exact = map[string]int{}
	}
	key := "|" + strings.Join(values, "|")
	if _, ok := t.exact[key]; !ok {
		t.exact[key] = entry
	}
}

func (t *keyTable) empty() bool { return t.exact == nil && t.wild == nil }

// covering returns the number of an entry that whoever fits the values fits too, or -1.
func (t *keyTable) covering(values []string) int {
	if entry, ok := t.exact["|"+strings.Join(values, "|")]; ok {
		return entry
	}
	for _, w := range t.wild {
		if slices.EqualFunc(w.parts, values, partCovers) {
			return w.entry
		}
	}
	return -1
}

func partCovers(a, b string) bool { return a == "*" || a == b }

// find returns the number of the first entry that the key in x fits, or -1.
func (t *keyTable) find(x *exchange) int {
	first := -1
	if t.exact != nil {
		if entry, ok := t.exact[string(x.values)]; ok {
			first = entry
		}
	}
	for i := range t.wild {
		w := &t.wild[i]
		if first >= 0 && w.entry > first {
			break
		}
		if w.fits(x) {
			return w.entry
		}
	}
	return first
}

func (w *wildKey) fits(x *exchange) bool {
	start := int32(1) // after the bar
	for i, want := range w.parts {
		if want != "*" && string(x.values[start:x.cuts[i]]) != want {
			return false
		}
		start = x.cuts[i] + 1
	}
	return true
}

// wholeRollout is the share of all keys.
const wholeRollout = 1_000_000

// rolledOut reports whether the key is one of those for which the rule is enforced.
// All instances agree on it, and a larger share holds all keys of a smaller one.
func (c *Compiled) rolledOut(values []byte) bool {
	if c.rollout == wholeRollout {
		return true
	}
	hash := c.rolloutSeed
	for _, b := range values {
		hash = (hash ^ uint64(b)) * fnvPrime
	}
	place, _ := bits.Mul64(mix(hash), wholeRollout)
	return place < c.rollout
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// rolloutSeed begins the hash with the rule's name, so that it is not always the
// same clients that come first.
func rolloutSeed(name string) uint64 {
	hash := uint64(fnvOffset)
	for i := range len(name) {
		hash = (hash ^ uint64(name[i])) * fnvPrime
	}
	return hash
}

// mix spreads what differs in the low bits over all of them.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
