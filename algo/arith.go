package algo

import "math/bits"

// mulDiv returns the quotient and remainder of a·b/m for non-negative a and b
// and positive m. A quotient that does not fit is cut to the largest int64.
func mulDiv(a, b, m int64) (q, r int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(m) {
		return maxInt64, 0
	}
	uq, ur := bits.Div64(hi, lo, uint64(m))
	if uq > maxInt64 {
		return maxInt64, 0
	}
	return int64(uq), int64(ur)
}

// mulDivCeil returns a·b/m rounded up.
func mulDivCeil(a, b, m int64) int64 {
	q, r := mulDiv(a, b, m)
	if r > 0 {
		q++
	}
	return q
}

// ceilDiv returns a/b rounded up, for non-negative a and positive b.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// addCount adds two counts and stops at the largest count that is kept.
func addCount(a, b int64) int64 { return min(a+b, MaxTotal) }

const maxInt64 = 1<<63 - 1

// floorTokens returns (q·n + r)/per rounded down: how many prices of per n-ths
// fit into q + r/n µs.
func floorTokens(q, r, n, per int64) int64 {
	hi, lo := bits.Mul64(uint64(q), uint64(n))
	lo, carry := bits.Add64(lo, uint64(r), 0)
	hi += carry
	if hi >= uint64(per) {
		return maxInt64
	}
	t, _ := bits.Div64(hi, lo, uint64(per))
	return int64(t)
}
