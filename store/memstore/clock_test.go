package memstore

import (
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

const year365 = 365 * 24 * hour

// TestWordsEndAndComeBack: one key through the end of what fits into a word and
// back, by hand.
func TestWordsEndAndComeBack(t *testing.T) {
	w := newWorld(t)
	p := compile(t, algo.Spec{Kind: algo.TokenBucket, Count: 3, Period: second, Burst: 3})
	for i, at := range []int64{0, 12 * year365, 10 * year365, -3 * year365, 0, 0} {
		w.at.Store(start + at)
		admitted := 0
		for range 5 {
			if w.one("k", p, 1, 0).Allowed {
				admitted++
			}
		}
		// Where the clock goes back the bucket is empty, no less and no more.
		want := [...]int{3, 3, 0, 0, 3, 0}[i]
		if admitted != want {
			t.Errorf("step %d: %d admitted, want %d", i, admitted, want)
		}
		inWord := w.slotOf("k", p).unitOf() == p.WordUnit()
		if fits := at >= 0 && at <= 10*year365; inWord != fits {
			t.Errorf("step %d: kept as a word: %v", i, inWord)
		}
	}
}
