package algo

// The fixed window: at most Count per window. T is the end of the current
// window and F what was spent in it. Windows are aligned to multiples of Period,
// or start at the first request, or lie between calendar boundaries.

// fixedAt returns the end of the window that now lies in, and what was spent.
func (p *Spec) fixedAt(s *State, now int64) (end, used int64) {
	start, end := p.fixedBounds(now)
	if now >= s.T {
		return end, 0
	}
	return min(s.T, now+end-start), s.F // the clock went back: no window ends later than a whole one from now
}

func (p *Spec) fixedBounds(now int64) (start, end int64) {
	switch {
	case p.Bounds != nil:
		return p.calendarBounds(now)
	case p.FirstHit:
		return now, now + p.Period
	}
	start = now - now%p.Period
	return start, start + p.Period
}

// calendarBounds finds the window of now between the given boundaries. Outside
// of them the nearest window repeats, so that a stale spec still limits.
func (p *Spec) calendarBounds(now int64) (start, end int64) {
	b := p.Bounds
	last := len(b) - 1
	if now < b[0] {
		size := b[1] - b[0]
		n := ceilDiv(b[0]-now, size)
		return b[0] - n*size, b[0] - (n-1)*size
	}
	if now >= b[last] {
		size := b[last] - b[last-1]
		n := (now - b[last]) / size
		return b[last] + n*size, b[last] + (n+1)*size
	}
	lo, hi := 0, last // b[lo] ≤ now < b[hi]
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; b[mid] <= now {
			lo = mid
		} else {
			hi = mid
		}
	}
	return b[lo], b[hi]
}

func (p *Spec) checkFixed(v *Verdict, s *State, now, asked, cost int64) {
	end, used := p.fixedAt(s, now)
	v.X = p.Count - used
	if used+asked > p.Count {
		v.Y = end - now
	} else {
		v.Allowed = true
		v.X -= cost
		used += cost
	}
	if used > 0 {
		v.Z = end - now
	}
}

func (p *Spec) spendFixed(s *State, now, cost int64) {
	end, used := p.fixedAt(s, now)
	s.T, s.F = end, addCount(used, cost)
}

func (p *Spec) refundFixed(s *State, now, cost int64) {
	end, used := p.fixedAt(s, now)
	if used > 0 {
		s.T, s.F = end, max(0, used-cost)
	}
}

func (p *Spec) cutFixed(s *State, now int64) bool {
	end, used := p.fixedAt(s, now)
	if now >= s.T || end == s.T {
		return false
	}
	s.T, s.F = end, used
	return true
}
