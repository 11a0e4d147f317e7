package redis

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
)

func TestBuckets(t *testing.T) {
	last := -1
	for ns := uint64(0); ns < 1<<42; ns += 1 + ns/100 {
		i := bucketOf(ns)
		if i < last {
			t.Fatalf("%d ns falls into bucket %d, below that of a shorter time, %d", ns, i, last)
		}
		last = i
		if end := bucketEnd(i); ns < 1<<40 && (end < ns || end > ns+ns/subs) {
			t.Fatalf("bucket %d of %d ns ends at %d", i, ns, end)
		}
	}
}

func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(algotest.Seed(t, 0), 1))
	var h, part histogram
	all := make([]time.Duration, 10_000)
	for i := range all {
		all[i] = time.Duration(rng.ExpFloat64() * 1e5)
		if i%2 == 0 {
			h.add(all[i])
		} else {
			part.add(all[i])
		}
	}
	h.merge(&part)
	slices.Sort(all)
	for _, q := range []float64{0, 0.5, 0.99, 0.999} {
		want := all[int(q*float64(len(all)))]
		if got := h.quantile(q); got < want || got > want+want/subs {
			t.Errorf("quantile %v is %v, want %v or up to 3 %% more", q, got, want)
		}
	}
	if got := h.quantile(1); got < all[len(all)-1] {
		t.Errorf("the greatest is %v, got %v", all[len(all)-1], got)
	}
	if got := new(histogram).quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %v", got)
	}
}
