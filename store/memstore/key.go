package memstore

import (
	"cmp"
	"hash/maphash"
)

// key is the identity of one limit's state: 128 bits of a hash that nobody
// outside can foresee, so keys cannot be made to collide.
type key struct{ hi, lo uint64 }

type hasher struct{ hi, lo maphash.Seed }

func newHasher() hasher { return hasher{maphash.MakeSeed(), maphash.MakeSeed()} }

func (h *hasher) key(name string, shape uint64) key {
	k := key{maphash.String(h.hi, name) ^ shape, maphash.String(h.lo, name) + shape}
	if k.hi|k.lo == 0 {
		k.lo = 1 // zero means nobody's
	}
	return k
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.hi, o.hi), cmp.Compare(k.lo, o.lo))
}
