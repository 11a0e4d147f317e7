package rule

import (
	"math"
	"math/bits"
	"time"

	"github.com/sluice-limiter/sluice"
)

// envelope bounds what a limit lets through: in any time t, both ends included, at
// most burst + count·t/period.
type envelope struct {
	burst, count int64
	period       time.Duration
}

// envelopeOf returns the bound of a limit whose defaults are filled in, for requests
// that may wait; false if none is known.
func envelopeOf(l sluice.Limit, wait time.Duration) (envelope, bool) {
	e := envelope{burst: l.Count, count: l.Count, period: shortest(l)}
	switch l.Algorithm {
	case sluice.TokenBucket:
		e.burst = add(l.Burst, e.within(wait)) // whoever waits takes from the future
		if l.Refill == sluice.ByInterval {
			e.burst = add(e.burst, l.Count)
		}
	case sluice.LeakyBucket:
		e.burst = add(l.Burst+1, e.within(wait))
	case sluice.FixedWindow:
		e.burst = add(l.Count, l.Count) // around a boundary
	case sluice.SlidingWindow:
		switch {
		case l.Weighted:
			e.burst, e.count = add(l.Count, l.Count), add(l.Count, l.Count)
		case l.SubWindows == 1:
			e.burst = add(l.Count, l.Count)
		default:
			e.period = l.Period / time.Duration(l.SubWindows) * time.Duration(l.SubWindows-1)
		}
	case sluice.SlidingLog:
	default:
		return e, false
	}
	return e, e.period > 0
}

// within returns count·t/period, rounded up.
func (e envelope) within(t time.Duration) int64 {
	return mulDiv(e.count, int64(t), int64(e.period))
}

// atMost returns the most that the limit lets through in a window of length t, of
// which one end is not included.
func (e envelope) atMost(l sluice.Limit, t time.Duration) int64 {
	switch {
	case l.Algorithm == sluice.SlidingLog, l.Algorithm == sluice.SlidingWindow && !l.Weighted && l.SubWindows > 1:
		return mulDiv(e.count, ceilDiv(t, e.period), 1)
	case l.Algorithm == sluice.TokenBucket && l.Refill == sluice.Smoothly, l.Algorithm == sluice.LeakyBucket:
		return add(e.burst, e.within(t)) - 1
	case l.Algorithm == sluice.TokenBucket:
		return add(e.burst, mulDiv(e.count, ceilDiv(t, e.period), 1))
	}
	return mulDiv(e.count, ceilDiv(t, e.period)+1, 1) // whole windows, and one cut in two
}

// shortest returns how short a window of the limit can be.
func shortest(l sluice.Limit) time.Duration {
	switch l.Calendar {
	case sluice.Day:
		return 23 * time.Hour
	case sluice.Week:
		return 7*24*time.Hour - time.Hour
	case sluice.Month:
		return 28*24*time.Hour - time.Hour
	case sluice.Year:
		return 365*24*time.Hour - time.Hour
	}
	return l.Period
}

// longest returns how long a window of the limit can be.
func longest(l sluice.Limit) time.Duration {
	switch l.Calendar {
	case sluice.Day:
		return 25 * time.Hour
	case sluice.Week:
		return 7*24*time.Hour + time.Hour
	case sluice.Month:
		return 31*24*time.Hour + time.Hour
	case sluice.Year:
		return 366*24*time.Hour + time.Hour
	}
	return l.Period
}

// dominates reports whether a lets so little through that b, asked about the same
// requests, can never refuse one. The defaults of both are filled in.
func dominates(a, b sluice.Limit, wait time.Duration) bool {
	if a.Count == 0 && a.Algorithm != sluice.NoLimit {
		return true
	}
	if b.Algorithm == sluice.NoLimit {
		return true
	}
	if a.Algorithm == sluice.InFlight && b.Algorithm == sluice.InFlight {
		return a.Count <= b.Count
	}
	e, ok := envelopeOf(a, wait)
	if !ok || b.Count == 0 {
		return false
	}
	switch b.Algorithm {
	case sluice.TokenBucket:
		return b.Refill == sluice.Smoothly && e.burst <= b.Burst && slower(e, b)
	case sluice.FixedWindow:
		if n, ok := aligned(a, b); ok {
			return n <= b.Count
		}
		return e.atMost(a, longest(b)) <= b.Count
	case sluice.SlidingLog:
		return e.atMost(a, b.Period) <= b.Count
	case sluice.SlidingWindow:
		if b.Weighted {
			return e.atMost(a, 2*b.Period) <= b.Count
		}
		return e.atMost(a, b.Period) <= b.Count
	}
	return false // leaky_bucket and warm_up delay whatever they let through
}

// mostDays is how many days a window of the calendar has at most.
var mostDays = map[sluice.Calendar]int64{sluice.Week: 7, sluice.Month: 31, sluice.Year: 366}

// aligned returns the most that windows a let through in one window of b, if the
// boundaries of both fall together.
func aligned(a, b sluice.Limit) (int64, bool) {
	if a.Algorithm != sluice.FixedWindow || b.Algorithm != sluice.FixedWindow || a.Start != b.Start || a.Start == sluice.FirstHit {
		return 0, false
	}
	switch {
	case a.Calendar != "" || b.Calendar != "":
		if a.Zone != b.Zone || a.Calendar == "" || b.Calendar == "" {
			return 0, false
		}
		if days := mostDays[b.Calendar]; a.Calendar == sluice.Day && days > 0 {
			return mulDiv(a.Count, days, 1), true
		}
		return a.Count, a.Calendar == b.Calendar && a.AnchorDay == b.AnchorDay
	case b.Period%a.Period == 0:
		return mulDiv(a.Count, int64(b.Period/a.Period), 1), true
	}
	return a.Count, a.Period%b.Period == 0
}

// slower reports whether the rate of e is not above that of l.
func slower(e envelope, l sluice.Limit) bool {
	h1, l1 := bits.Mul64(uint64(e.count), uint64(l.Period))
	h2, l2 := bits.Mul64(uint64(l.Count), uint64(e.period))
	return h1 < h2 || h1 == h2 && l1 <= l2
}

func ceilDiv(a, b time.Duration) int64 { return int64((a-1)/b) + 1 }

// mulDiv returns a·b/c rounded up, or the largest number if that is too large. None
// is negative, and c is not 0.
func mulDiv(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high >= uint64(c) {
		return math.MaxInt64
	}
	q, r := bits.Div64(high, low, uint64(c))
	if r > 0 {
		q++
	}
	return int64(min(q, math.MaxInt64))
}

// add returns a + b, or the largest number if that is too large.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
