package redis

import (
	"math"
	"slices"
)

// admission says that n requests were admitted at some instants between begin
// and end, in seconds.
type admission struct {
	begin, end float64
	n          int64
}

// worstExcess finds the interval in which most was admitted beyond rate times
// its length, and returns by how much: a bucket keeps its promise if that is at
// most the burst. An admission counts only for intervals that contain it from
// begin to end, so that what the oracle finds has really happened.
//
// It goes through the ends of all intervals in order and keeps, for each
// possible start s, what was admitted since s plus rate·s.
func worstExcess(log []admission, rate float64) float64 {
	if len(log) == 0 {
		return 0
	}
	starts := make([]float64, len(log))
	for i, a := range log {
		starts[i] = a.begin
	}
	slices.Sort(starts)
	log = slices.Clone(log)
	slices.SortFunc(log, func(a, b admission) int {
		switch {
		case a.end < b.end:
			return -1
		case a.end > b.end:
			return 1
		}
		return 0
	})
	best := newMaxTree(starts, rate)
	worst := math.Inf(-1)
	for _, a := range log {
		// The last start that is not later than begin.
		i, _ := slices.BinarySearchFunc(starts, a.begin, func(s, at float64) int {
			if s <= at {
				return -1
			}
			return 1
		})
		best.add(i, float64(a.n))
		worst = max(worst, best.max(i)-rate*a.end)
	}
	return worst
}

// maxTree holds numbers and can add to, and find the greatest of, the first k
// of them.
type maxTree struct {
	size int
	top  []float64 // greatest of the subtree, without what is due above it
	due  []float64 // to be added to all of the subtree
}

func newMaxTree(starts []float64, rate float64) *maxTree {
	size := 1
	for size < len(starts) {
		size *= 2
	}
	t := &maxTree{size, make([]float64, 2*size), make([]float64, 2*size)}
	for i := range size {
		t.top[size+i] = math.Inf(-1)
		if i < len(starts) {
			t.top[size+i] = rate * starts[i]
		}
	}
	for i := size - 1; i > 0; i-- {
		t.top[i] = max(t.top[2*i], t.top[2*i+1])
	}
	return t
}

// add adds v to the first k numbers.
func (t *maxTree) add(k int, v float64) { t.addIn(1, 0, t.size, k, v) }

func (t *maxTree) addIn(node, from, to, k int, v float64) {
	switch {
	case k <= from:
		return
	case k >= to:
		t.top[node] += v
		t.due[node] += v
		return
	}
	mid := (from + to) / 2
	t.addIn(2*node, from, mid, k, v)
	t.addIn(2*node+1, mid, to, k, v)
	t.top[node] = max(t.top[2*node], t.top[2*node+1]) + t.due[node]
}

// max returns the greatest of the first k numbers.
func (t *maxTree) max(k int) float64 { return t.maxIn(1, 0, t.size, k) }

func (t *maxTree) maxIn(node, from, to, k int) float64 {
	switch {
	case k <= from:
		return math.Inf(-1)
	case k >= to:
		return t.top[node]
	}
	mid := (from + to) / 2
	return max(t.maxIn(2*node, from, mid, k), t.maxIn(2*node+1, mid, to, k)) + t.due[node]
}
