package algotest

import (
	"math/big"

	"github.com/sluice-limiter/sluice/algo"
)

// windows are the (count, period) pairs that must all hold.
func (o *Oracle) windows() []algo.Window {
	if o.Def.Kind == algo.SlidingLog {
		return o.Def.Windows
	}
	return []algo.Window{{Count: o.Def.Count, Period: o.Def.Period}}
}

// load is what counts at the instant at against a window, in units of 1/period:
// the definition of every windowed algorithm.
func (o *Oracle) load(at int64, w algo.Window) *big.Int {
	sum, part := new(big.Int), new(big.Int)
	start := o.windowStart(at)
	for _, e := range o.Log {
		if share := o.share(e, at, start, w.Period); share > 0 {
			sum.Add(sum, part.Mul(bigInt(e.Cost), bigInt(share)))
		}
	}
	return sum
}

// share is how much of an event counts at the instant at, in 1/period; start is
// that of the fixed window around at.
func (o *Oracle) share(e Event, at, start, period int64) int64 {
	switch o.Def.Kind {
	case algo.SlidingLog:
		if e.At > at-period {
			return period
		}
	case algo.FixedWindow:
		if e.At >= start {
			return period
		}
	case algo.SlidingWindow:
		size := period / o.Def.Sub
		if floorDiv(at, size)-floorDiv(e.At, size) < o.Def.Sub {
			return period
		}
	case algo.WeightedWindow:
		switch floorDiv(at, period) - floorDiv(e.At, period) {
		case 0:
			return period
		case 1:
			return period - (at - floorDiv(at, period)*period)
		}
	}
	return 0
}

// windowStart is the start of the fixed window that the instant t lies in.
func (o *Oracle) windowStart(t int64) int64 {
	if o.Def.FirstHit {
		start := t
		open := false
		for _, e := range o.Log {
			if e.At > t {
				break
			}
			if !open || e.At >= start+o.Def.Period {
				start, open = e.At, true
			}
		}
		if open && t < start+o.Def.Period {
			return start
		}
		return t
	}
	if b := o.Def.Bounds; b != nil {
		return calendarStart(b, t)
	}
	if o.Def.Kind == algo.FixedWindow {
		return floorDiv(t, o.Def.Period) * o.Def.Period
	}
	return t
}

// calendarStart is the last boundary up to t. Outside of all of them the nearest
// window repeats.
func calendarStart(b []int64, t int64) int64 {
	last := len(b) - 1
	if t < b[0] {
		return b[0] + floorDiv(t-b[0], b[1]-b[0])*(b[1]-b[0])
	}
	if size := b[last] - b[last-1]; t >= b[last] {
		return b[last] + (t-b[last])/size*size
	}
	start := b[0]
	for _, bound := range b {
		if bound <= t {
			start = bound
		}
	}
	return start
}

// counts reports whether an event still counts anywhere at the instant at.
func (o *Oracle) counts(e Event, at int64) bool {
	start := o.windowStart(at)
	for _, w := range o.windows() {
		if o.share(e, at, start, w.Period) > 0 {
			return true
		}
	}
	return false
}

// fits reports whether cost on top of the load stays within every window.
func (o *Oracle) fits(at, cost int64) bool {
	for _, w := range o.windows() {
		load := o.load(at, w)
		load.Add(load, bigProduct(cost, w.Period))
		if load.Cmp(bigProduct(w.Count, w.Period)) > 0 {
			return false
		}
	}
	return true
}

// horizon is a time after which nothing of the log can count.
func (o *Oracle) horizon() int64 {
	longest := int64(0)
	for _, w := range o.windows() {
		longest = max(longest, w.Period)
	}
	for i := 1; i < len(o.Def.Bounds); i++ {
		longest = max(longest, o.Def.Bounds[i]-o.Def.Bounds[i-1])
	}
	return 2*longest + 1
}

// windowRetry is the least time after which cost fits. Load only falls while
// nothing is admitted, so a search finds it.
func (o *Oracle) windowRetry(at, cost int64) int64 {
	return searchTime(o.horizon(), func(after int64) bool { return o.fits(at+after, cost) })
}

func (o *Oracle) windowReset(at int64) int64 {
	return searchTime(o.horizon(), func(after int64) bool {
		for _, w := range o.windows() {
			if o.load(at+after, w).Sign() > 0 {
				return false
			}
		}
		return true
	})
}

func (o *Oracle) windowRemaining(at int64) int64 {
	left := int64(algo.MaxCount)
	for _, w := range o.windows() {
		room := bigProduct(w.Count, w.Period)
		room.Sub(room, o.load(at, w))
		left = min(left, bigClip(room.Div(room, bigInt(w.Period))))
	}
	return max(0, left)
}

// Peak is the largest cost that the log admitted in any interval [t, t+length).
func (o *Oracle) Peak(length int64) int64 {
	peak, sum, first := int64(0), int64(0), 0
	for _, e := range o.Log {
		sum += e.Cost
		for o.Log[first].At <= e.At-length {
			sum -= o.Log[first].Cost
			first++
		}
		peak = max(peak, sum)
	}
	return peak
}

// searchTime returns the least value in [0, limit] from which on ok holds.
func searchTime(limit int64, ok func(int64) bool) int64 {
	if ok(0) {
		return 0
	}
	low, high := int64(0), limit // ok does not hold at low, and holds at high
	for high-low > 1 {
		if mid := low + (high-low)/2; ok(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
