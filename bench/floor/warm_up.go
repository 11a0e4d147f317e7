package floor

import "time"

// warmth is a warm-up. With its identity it takes a cache line.
type warmth struct {
	lock
	next   float64 // the µs at which the next request may go
	stored float64 // permits that are unused
	_      [3]int64
}

// WarmUpTable is a flat table of warm-ups: the price of a request falls from three
// times the stable one as requests come, and rises again while none do.
type WarmUpTable struct {
	flat[warmth]
	stable, slope, threshold, most, cool float64
}

// NewWarmUpTable returns a table of count per period, warm after the given time.
func NewWarmUpTable(count int64, period, warm time.Duration, keys int) *WarmUpTable {
	t := &WarmUpTable{flat: newFlat[warmth](keys)}
	micros := float64(warm.Microseconds())
	t.stable = float64(period.Microseconds()) / float64(count)
	t.threshold = micros / 2 / t.stable
	t.most = t.threshold + 2*micros/(4*t.stable)
	t.slope = 2 * t.stable / (t.most - t.threshold)
	t.cool = micros / t.most
	return t
}

// Allow lets a request of the key go, now or not at all.
func (t *WarmUpTable) Allow(key string) bool {
	w := t.find(t.identity(key))
	w.hold()
	allowed := t.take(w, float64(t.micros()))
	w.release()
	return allowed
}

func (t *WarmUpTable) take(w *warmth, now float64) bool {
	if now < w.next {
		return false
	}
	if w.next == 0 {
		w.stored = t.most
	}
	stored := min(t.most, w.stored+(now-w.next)/t.cool)
	paid := min(1, stored)
	price := (1 - paid) * t.stable
	if above := stored - t.threshold; above > 0 {
		cold := min(above, paid)
		price += cold * (t.stable + (above-cold/2)*t.slope)
		price += (paid - cold) * t.stable
	} else {
		price += paid * t.stable
	}
	w.next, w.stored = now+price, stored-paid
	return true
}
