package recommend

import (
	"math"
	"slices"
	"sort"
)

// scales are over how many periods the busiest moments of a key are looked at: an attack
// that is not much busier than people are goes on for longer.
var scales = [...]int64{1, 10, 100, 1000}

// What sets a group apart from the other keys.
const (
	groupFactor = 3    // it has more than so many times the keys that are half as busy
	groupLeast  = 7    // and so many beside
	groupMost   = 0.05 // a larger share of all keys is not left out: it is who comes here
)

// tail tells how busy keys get on one scale.
type tail struct {
	// far is what 999 of 1,000 keys stay below, as the others let one expect: from the
	// busiest tenth to the busiest hundredth keys get busier by some factor, and by the
	// same factor again to the busiest thousandth.
	far int64
	// busy is what the busiest hundredth has, and half as much again.
	busy int64
	// apart is where a group begins that the others do not lead up to; 0: there is none.
	apart int64
	group int // how many keys it has
	// many says that the group is too large to be left out.
	many bool
}

// beyond reports whether a peak is not what the others let one expect.
func (t *tail) beyond(peak int64) bool { return peak > 2*t.far || t.inGroup(peak) }

// inGroup reports whether a key is of the group apart.
func (t *tail) inGroup(peak int64) bool { return t.apart > 0 && !t.many && peak > t.apart }

// fitTails looks at the peaks of keys on all scales. Those of a group apart on one of the
// scales do not stretch any.
func fitTails(keys [][len(scales)]int64) (tails [len(scales)]tail) {
	for i := range tails {
		t := &tails[i]
		t.apart, t.group = apart(column(keys, i))
		t.many = float64(t.group) > groupMost*float64(len(keys))
	}
	usual := slices.DeleteFunc(slices.Clone(keys), func(peaks [len(scales)]int64) bool {
		for i := range tails {
			if tails[i].inGroup(peaks[i]) {
				return true
			}
		}
		return false
	})
	for i := range tails {
		tails[i].fit(column(usual, i))
	}
	return tails
}

// column returns the peaks on one scale, sorted.
func column(keys [][len(scales)]int64, scale int) []int64 {
	peaks := make([]int64, len(keys))
	for i := range keys {
		peaks[i] = keys[i][scale]
	}
	slices.Sort(peaks)
	return peaks
}

// fit takes the measure of sorted peaks.
func (t *tail) fit(peaks []int64) {
	if len(peaks) == 0 {
		t.busy, t.far = leastFar, leastFar
		return
	}
	tenth, hundredth := max(peaks[len(peaks)*90/100], 1), peaks[len(peaks)*99/100]
	t.busy = max(hundredth*3/2, leastFar)
	further := float64(hundredth) * float64(hundredth) / float64(tenth) // of bytes, the square is more than an int64 holds
	t.far = max(int64(min(further, math.MaxInt64/4)), t.busy)
}

// apart finds the level above which there are most keys in comparison with those just
// below, if that is many more. Of people fewer and fewer are busier and busier, so that
// these are others: programs that one hand has set to one speed.
func apart(peaks []int64) (level int64, size int) {
	n := len(peaks)
	if n == 0 {
		return 0, 0
	}
	above := func(level int64) int {
		return n - sort.Search(n, func(i int) bool { return peaks[i] > level })
	}
	most := 0.0
	for at := max(peaks[n*90/100], leastFar); at < peaks[n-1]; at += max(at/8, 1) {
		group := above(at)
		below := above(at/2) - group
		ratio := float64(group) / float64(below+1)
		if ratio > most && group > groupFactor*below+groupLeast {
			level, size, most = at, group, ratio
		}
	}
	return level, size
}
