package lease

import "github.com/sluice-limiter/sluice/algo"

// pass lets a tick go by.
func (j *judge) pass(w *world) {
	p := w.scope.limit
	switch {
	case p.Kind == algo.TokenBucket:
		j.level = max(0, j.level-p.Count*tick/p.Period)
	case p.FirstHit:
		if w.now == j.turn {
			j.count[0] = 0
		}
	case w.now%(p.Period/max(1, p.Sub)) == 0:
		copy(j.count[1:], j.count[:])
		j.count[0] = 0
	}
}

func (j *judge) admit(w *world, cost int64) {
	switch {
	case w.scope.limit.Kind == algo.TokenBucket:
		j.level += cost
	case w.scope.limit.FirstHit && w.now >= j.turn:
		j.count[0] = w.scope.bound + 1 // there is no window that it could count in
	default:
		j.count[0] += cost
	}
}

// refund is what a store that admits everything itself would make of it.
func (j *judge) refund(w *world, cost int64) {
	if w.scope.limit.Kind == algo.TokenBucket {
		j.level = max(0, j.level-cost)
	} else {
		j.count[0] = max(0, j.count[0]-cost)
	}
}

// open notes which window the store is in, if its first hit decides.
func (j *judge) open(w *world) {
	if w.scope.limit.FirstHit {
		j.turn = w.state.T
	}
}

// load is what must stay within the bound.
func (j *judge) load(s *scope) int64 {
	if s.limit.Kind == algo.TokenBucket {
		return j.level
	}
	sum := int64(0)
	for _, c := range j.count[:max(1, s.limit.Sub)] {
		sum += c
	}
	return sum
}
