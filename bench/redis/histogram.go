package redis

import (
	"math/bits"
	"time"
)

// Buckets of a histogram: every power of two is cut into 32, so that a quantile
// is at most 3 % too high.
const (
	subBits = 5
	subs    = 1 << subBits
	// ranges covers up to 2^40 ns, eighteen minutes.
	ranges = 40 - subBits
)

// histogram counts durations in buckets that grow with them.
type histogram struct {
	counts [(ranges + 1) * subs]uint64
	total  uint64
}

func bucketOf(ns uint64) int {
	if ns < subs {
		return int(ns)
	}
	shift := bits.Len64(ns) - subBits - 1
	return min(shift*subs+int(ns>>shift), (ranges+1)*subs-1)
}

// bucketEnd is the longest duration of a bucket in nanoseconds.
func bucketEnd(i int) uint64 {
	if i < 2*subs {
		return uint64(i)
	}
	shift := i/subs - 1
	return (uint64(i-shift*subs)+1)<<shift - 1
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(uint64(max(d, 0)))]++
	h.total++
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
}

// quantile is the duration that a share q of the counted ones did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.total))
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen > rank || n > 0 && seen == h.total {
			return time.Duration(bucketEnd(i))
		}
	}
	return 0
}
