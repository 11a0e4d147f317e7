package rule

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// keyTable finds the first entry of a list of keys that a key fits. There is one map
// for each set of parts that entries leave open, so that it takes one step for each of
// those, however many entries there are.
type keyTable struct {
	exact map[string]int // number of the first entry with that key
	wild  []wildTable    // those with the lowest entries first
}

// wildTable holds the entries that have a * in the same parts.
type wildTable struct {
	open   []bool // by number of the part
	lowest int    // entry in it
	byHash map[uint64][]wildKey
}

type wildKey struct {
	entry int
	parts []string // escaped; "*" stands for any
}

// anyValue is the value of a part that stands for all.
const anyValue = "*"

// add adds escaped values as a key of an entry. Entries come in order.
func (t *keyTable) add(entry int, values []string) {
	if slices.Contains(values, anyValue) {
		t.addWild(wildKey{entry, values})
		return
	}
	if t.exact == nil {
		t.exact = map[string]int{}
	}
	key := joinKey(values)
	if _, ok := t.exact[key]; !ok {
		t.exact[key] = entry
	}
}

func joinKey(values []string) string { return "|" + strings.Join(values, "|") }

func (t *keyTable) addWild(w wildKey) {
	open := openParts(w.parts)
	i := slices.IndexFunc(t.wild, func(o wildTable) bool { return slices.Equal(o.open, open) })
	if i < 0 {
		i = len(t.wild)
		t.wild = append(t.wild, wildTable{open: open, lowest: w.entry, byHash: map[uint64][]wildKey{}})
	}
	table := &t.wild[i]
	hash := uint64(0)
	for n, value := range w.parts {
		if !open[n] {
			hash = mixPart(hash, value)
		}
	}
	table.byHash[hash] = append(table.byHash[hash], w)
}

func openParts(values []string) []bool {
	open := make([]bool, len(values))
	for i, value := range values {
		open[i] = value == anyValue
	}
	return open
}

var partSeed = maphash.MakeSeed()

// mixPart adds a part to the hash of those before it.
func mixPart(hash uint64, value string) uint64 {
	return hash*fnvPrime + maphash.String(partSeed, value)
}

func (t *keyTable) empty() bool { return t.exact == nil && t.wild == nil }

// covering returns the number of the first entry that whoever fits the values fits
// too, or -1.
func (t *keyTable) covering(values []string) int {
	return t.find([]byte(joinKey(values)))
}

// all returns the number of the first entry that every key fits, or -1.
func (t *keyTable) all() int {
	for i := range t.wild {
		if w := &t.wild[i]; !slices.Contains(w.open, false) {
			return w.lowest
		}
	}
	return -1
}

// find returns the number of the first entry that the values of a key fit, or -1.
func (t *keyTable) find(values []byte) int {
	first := math.MaxInt
	if t.exact != nil {
		if entry, ok := t.exact[string(values)]; ok {
			first = entry
		}
	}
	for i := range t.wild {
		w := &t.wild[i]
		if w.lowest >= first {
			break
		}
		first = min(first, w.find(values))
	}
	if first == math.MaxInt {
		return -1
	}
	return first
}

// find returns the first entry that the values fit, or the largest number.
func (t *wildTable) find(values []byte) int {
	hash, rest := uint64(0), values
	for _, open := range t.open {
		var value []byte
		if value, rest = nextPart(rest); !open {
			hash = mixPart(hash, textOf(value))
		}
	}
	for _, w := range t.byHash[hash] {
		if w.fits(values) {
			return w.entry
		}
	}
	return math.MaxInt
}

// nextPart cuts the first part off: a bar is always the beginning of one.
func nextPart(values []byte) (part, rest []byte) {
	values = values[1:]
	if end := bytes.IndexByte(values, '|'); end >= 0 {
		return values[:end], values[end:]
	}
	return values, nil
}

// fits compares part by part.
func (w *wildKey) fits(values []byte) bool {
	for _, want := range w.parts {
		var value []byte
		if value, values = nextPart(values); want != anyValue && string(value) != want {
			return false
		}
	}
	return true
}
