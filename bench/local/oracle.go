package local

import (
	"math/big"
	"time"
)

// bounds is what a limiter may admit, given what is known of the instants at
// which it decided.
type bounds struct{ Lo, Hi int64 }

func (b bounds) hold(n int64) bool { return b.Lo <= n && n <= b.Hi }

func (b bounds) widen(by int64) bounds { return bounds{b.Lo - by, b.Hi + by} }

// tokenBounds is what a token bucket admits from its first decision to one
// that it denied: the burst, and the whole tokens of the time between. The
// time is known to lie between least and most. A microsecond on either side
// is the resolution of the bucket's own clock.
func tokenBounds(q Quota, least, most time.Duration) bounds {
	return bounds{
		Lo: q.Burst + q.tokensIn(least-time.Microsecond),
		Hi: q.Burst + q.tokensIn(most+time.Microsecond),
	}
}

// tokensIn is the whole number of tokens that come in d, computed without
// rounding.
func (q Quota) tokensIn(d time.Duration) int64 {
	n := new(big.Int).Mul(big.NewInt(q.Count), big.NewInt(int64(max(d, 0))))
	return n.Div(n, big.NewInt(int64(q.Period))).Int64()
}

// windowBounds is what a quota per window admits while requests never stop:
// the whole quota in every window that is long enough to spend it. Where the
// windows begin is not known, so there may be two more than fit.
func windowBounds(q Quota, d time.Duration) bounds {
	fit := int64(d / q.Period)
	return bounds{Lo: fit * q.Count, Hi: (fit + 2) * q.Count}
}
