package algo

// Return gives back cost of one certain spend: at most what of it still counts.
// The spend was made at the instant at and left the given mark. Where [Refund]
// takes what is newest, whoever spent it, Return never gives back what others
// spent after this one had left the window or was refilled.
func Return(p *Spec, s *State, now, cost, at int64, mark Mark) {
	cost = min(cost, MaxCount)
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		p.returnBucket(s, now, cost, mark)
	case IntervalBucket:
		then := State{T: mark.A, F: mark.B, Ahead: true}
		_, _, counted, _ := p.intervalAt(&then, now)
		Refund(p, s, now, min(cost, max(0, counted)))
	case WarmUp:
		if mark.A >= now {
			Refund(p, s, now, cost)
		}
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

// returnBucket gives back the price of cost, at most the time that is left
// until the bucket would have been full again had nothing come after the spend.
func (p *Spec) returnBucket(s *State, now, cost int64, mark Mark) {
	left, part := mark.A-now, mark.B
	if mark.C != p.n && part > 0 { // another rate wrote it: less than that in our unit
		part, _ = mulDiv(part, p.n, mark.C)
	}
	q, r := p.price(cost)
	if q > left || q == left && r > part {
		q, r = left, part
	}
	if q >= 0 {
		p.moveBack(s, now, q, r)
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
