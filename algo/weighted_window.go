package algo

// The weighted sliding window: two aligned windows of a Period each, the older
// one weighted by the share of it that the trailing Period still overlaps. F is
// the current window's count, G the older one's, and T the instant at which the
// current one is no longer overlapped.

// weighted is the two windows as of an instant.
type weighted struct{ end, cur, old int64 }

func (p *Spec) weightedAt(s *State, now int64) weighted {
	end := s.T - p.Period
	if now < end {
		return weighted{min(end, now+p.Period), s.F, s.G}
	}
	if now < end+p.Period && s.F > 0 {
		return weighted{end: end + p.Period, old: s.F}
	}
	return weighted{end: now - now%p.Period + p.Period}
}

func (p *Spec) weightedUsed(w weighted, now int64) int64 {
	return w.cur + mulDivCeil(w.old, w.end-now, p.Period)
}

func (p *Spec) checkWeighted(v *Verdict, s *State, now, asked, cost int64) {
	w := p.weightedAt(s, now)
	used := p.weightedUsed(w, now)
	v.X = p.Count - used
	if used+asked > p.Count {
		v.Y = p.weightedRetry(w, asked) - now
	} else {
		v.Allowed = true
		v.X -= cost
		w.cur += cost
	}
	switch {
	case w.cur > 0:
		v.Z = w.end + p.Period - now
	case w.old > 0:
		v.Z = w.end - now
	}
}

// weightedRetry is the instant at which the older window's weight has fallen
// far enough for cost to fit: the older one of today, or, if the current count
// alone is too much, that one after it has become the older one.
func (p *Spec) weightedRetry(w weighted, cost int64) int64 {
	if room := p.Count - w.cur - cost; room >= 0 {
		overlap, _ := mulDiv(room, p.Period, w.old)
		return w.end - overlap
	}
	overlap, _ := mulDiv(p.Count-cost, p.Period, w.cur)
	return w.end + p.Period - min(overlap, p.Period)
}

func (p *Spec) putWeighted(s *State, w weighted) {
	s.T, s.F, s.G = w.end+p.Period, w.cur, w.old
}

func (p *Spec) spendWeighted(s *State, now, cost int64) {
	w := p.weightedAt(s, now)
	w.cur = addCount(w.cur, cost)
	p.putWeighted(s, w)
}

func (p *Spec) refundWeighted(s *State, now, cost int64) {
	w := p.weightedAt(s, now)
	if w.cur+w.old == 0 {
		return
	}
	back := min(cost, w.cur)
	w.cur -= back
	w.old -= min(cost-back, w.old)
	p.putWeighted(s, w)
}

func (p *Spec) cutWeighted(s *State, now int64) bool {
	w := p.weightedAt(s, now)
	if now >= s.T-p.Period || w.end+p.Period == s.T {
		return false
	}
	p.putWeighted(s, w)
	return true
}
