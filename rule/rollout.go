package rule

import "math/bits"

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
