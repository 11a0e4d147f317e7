package algo

// Return gives back cost of one certain spend: at most what of it still counts.
// The spend was made at the instant at and left the given mark. Where [Refund]
// takes what is newest, whoever spent it, Return never gives back what others
// spent after this one had left the window or was refilled.
//
// A bucket refills what was spent in the order in which it was spent, so that
// every spend has its place in time. What is given back moves the places behind
// it forward: shift is the sum of what [Spec.Shift] told of this state between
// the spend and now. Who did not count passes [Uncounted] and gets back what is
// sure wherever the place is now.
func Return(p *Spec, s *State, now, cost, at int64, mark Mark, shift int64) {
	cost = min(cost, MaxCount)
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		p.returnBucket(s, now, cost, at, mark, shift)
	case IntervalBucket:
		p.returnInterval(s, now, cost, at, mark, shift)
	case WarmUp:
		p.returnWarmUp(s, now, cost, at, mark, shift)
	case FixedWindow:
		p.returnFixed(s, now, cost, at)
	case SlidingWindow:
		p.returnSliding(s, now, cost, at)
	case WeightedWindow:
		p.returnWeighted(s, now, cost, at)
	case SlidingLog:
		p.returnLog(s, now, cost, at)
	}
}

func (p *Spec) returnFixed(s *State, now, cost, at int64) {
	start, _ := p.fixedBounds(now)
	if p.FirstHit {
		start = s.T - p.Period
	}
	if at >= start {
		p.refundFixed(s, now, cost)
	}
}

func (p *Spec) returnSliding(s *State, now, cost, at int64) {
	w := p.slideAt(s, now)
	i := max(0, w.end-1-at) / p.size
	if i >= p.Sub || w.used == 0 {
		return
	}
	p.move(s, w)
	back := min(cost, s.More[i])
	s.More[i] -= back
	s.F -= back
}

func (p *Spec) returnWeighted(s *State, now, cost, at int64) {
	w := p.weightedAt(s, now)
	switch {
	case at >= w.end-p.Period:
		w.cur -= min(cost, w.cur)
	case at >= w.end-2*p.Period:
		w.old -= min(cost, w.old)
	default:
		return
	}
	p.putWeighted(s, w)
}

// returnLog takes from the entries of that instant, and from the running totals
// of all that came after.
func (p *Spec) returnLog(s *State, now, cost, at int64) {
	e := s.entries()
	first, next := e.after(at-1), e.after(at)
	if first == next || at <= now-p.longest {
		return
	}
	end := s.F
	if next < e.len() {
		end = e.before(next)
	}
	back := min(cost, end-e.before(first))
	keep := first // entries of that instant from here on are given back whole
	for keep < next && e.before(keep) < end-back {
		keep++
	}
	for i := next; i < e.len(); i++ {
		e[2*i+1] -= back
	}
	copy(e[2*keep:], e[2*next:])
	s.More = s.More[:len(s.More)-2*(next-keep)]
	s.F -= back
}
