package local

import (
	"math/rand/v2"
	"strings"
)

// KeyLen is the length of every key in bytes.
const KeyLen = 16

const hexDigits = "0123456789abcdef"

// appendKey appends the i-th key: the sixteen hexadecimal digits of a mixed
// number, so that keys are distinct and have no common prefix.
func appendKey(b []byte, i uint64) []byte {
	x := mix(i)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[x>>shift&15])
	}
	return b
}

// mix is the finaliser of splitmix64, which maps numbers one to one.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keySpan returns the keys from, from+1, … joined in one string.
func keySpan(from, n int) string {
	b := make([]byte, 0, n*KeyLen)
	for i := range n {
		b = appendKey(b, uint64(from+i))
	}
	return string(b)
}

// uniformSequence returns n draws among the given number of keys, joined in
// one string: walking it costs the loop nothing but a sequential read, and a
// drawn key never is the string that a table has stored.
func uniformSequence(r *rand.Rand, keys, n int) string {
	return sequence(n, func() uint64 { return r.Uint64N(uint64(keys)) })
}

// zipfSequence is like uniformSequence with Zipf's distribution of the given
// exponent. Ranks are scattered over the keys, so that popular keys are not
// neighbours in the order of insertion.
func zipfSequence(r *rand.Rand, s float64, keys, n int) string {
	z := rand.NewZipf(r, s, 1, uint64(keys-1))
	rank := r.Perm(keys)
	return sequence(n, func() uint64 { return uint64(rank[z.Uint64()]) })
}

func sequence(n int, draw func() uint64) string {
	b := make([]byte, 0, n*KeyLen)
	for range n {
		b = appendKey(b, draw())
	}
	return string(b)
}

// fill asks once for each of the first n keys. Every key is a string of its
// own, as it would be in a server, so that a library which keeps its keys
// pays for them.
func fill(k Keyed, n int) Tally {
	var t Tally
	const span = 4096
	for from := 0; from < n; from += span {
		batch := keySpan(from, min(span, n-from))
		for ; len(batch) > 0; batch = batch[KeyLen:] {
			t.add(k.Run(strings.Clone(batch[:KeyLen])))
		}
	}
	return t
}
