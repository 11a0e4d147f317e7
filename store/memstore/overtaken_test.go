package memstore

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// TestOvertakenReadsTheClockAgain: somebody reads the clock, then another is faster and
// writes the key's state at a later instant, in the next window. The first decides by
// an instant that is not before that.
func TestOvertakenReadsTheClockAgain(t *testing.T) {
	const before, after = -3, 4 // µs, from a full hour on
	specs := append(tailed(t, 5), everyKind(t, 5)...)
	for _, p := range specs {
		if !p.Dated() {
			continue
		}
		w := &world{TB: t}
		w.at.Store(start + before)
		slow := false // it is about to be overtaken
		w.Store = New(WithClock(func() time.Time {
			if !slow {
				return w.now()
			}
			slow = false
			early := w.now()
			w.at.Store(start + after)
			w.spend("k", p, 1)
			return early
		}))
		slow = true
		got := w.take(store.Spend, store.Check{Key: "k", Spec: p, Cost: 1})[0].Verdict
		var st algo.State
		algo.Decide(p, &st, start+after, 1, 0)
		if want := algo.Decide(p, &st, start+after, 1, 0); got != want {
			t.Errorf("kind %d: %+v, want %+v", p.Kind, got, want)
		}
		left := w.take(store.Spend, store.Check{Key: "k", Spec: p})[0].Verdict
		if want := algo.Check(p, &st, start+after, 0, 0); left != want {
			t.Errorf("kind %d: then %+v, want %+v", p.Kind, left, want)
		}
	}
}
