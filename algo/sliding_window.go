package algo

// The sliding window of Sub sub-windows, aligned to the clock: what was spent
// in the current sub-window and the Sub−1 before it stays within Count. More
// holds the counts, newest first, F their sum, and T the instant at which the
// newest sub-window leaves the window.

// slide is the window as of an instant.
type slide struct {
	end  int64 // of the newest sub-window
	gone int64 // how many sub-windows have begun since the state was written
	used int64
}

func (p *Spec) slideAt(s *State, now int64) slide {
	size := p.size
	end := s.T - p.Period + size
	if now < end { // at most one sub-window ahead, unless the clock went back
		return slide{min(end, now+size), 0, s.F}
	}
	v := slide{end: end, gone: min((now-end)/size+1, p.Sub)}
	for i := range p.Sub - v.gone {
		v.used += s.sub(i)
	}
	if v.end += v.gone * size; v.used == 0 { // aligned, whatever the clock did before
		v.end, v.gone = now-now%size+size, p.Sub
	}
	return v
}

// sub returns the count of the i-th newest sub-window as it was written.
func (s *State) sub(i int64) int64 {
	if i < int64(len(s.More)) {
		return s.More[i]
	}
	return 0
}

// checkSliding also returns the window that it found.
func (p *Spec) checkSliding(v *Verdict, s *State, now, asked, cost int64) slide {
	w := p.slideAt(s, now)
	v.X = p.Count - w.used
	switch {
	case asked > v.X:
		v.Y = p.slideRetry(s, w, asked) - now
		v.Z = p.slideReset(s, w) - now
	case cost > 0:
		v.Allowed = true
		v.X -= cost
		v.Z = w.end + p.Period - p.size - now
	default:
		v.Allowed = true
		if w.used > 0 {
			v.Z = p.slideReset(s, w) - now
		}
	}
	return w
}

// decideSliding is [DecideTo] without looking for the window twice.
func (p *Spec) decideSliding(v *Verdict, s *State, now, cost int64) (changed bool) {
	w := p.checkSliding(v, s, now, cost, cost)
	if !v.Allowed {
		return p.cutSliding(s, now)
	}
	p.spendSlide(s, w, cost)
	return true
}

// slideRetry is the instant at which enough of the oldest sub-windows have left
// for cost to fit.
func (p *Spec) slideRetry(s *State, w slide, cost int64) int64 {
	at, used := w.end, w.used
	for i := p.Sub - 1; i > 0; i-- {
		if i >= w.gone {
			used -= s.sub(i - w.gone)
		}
		if used+cost <= p.Count {
			break
		}
		at += p.size
	}
	return at
}

// slideReset is the instant at which the newest sub-window that was used leaves.
func (p *Spec) slideReset(s *State, w slide) int64 {
	at := w.end + p.Period - p.size
	for i := range p.Sub {
		if i >= w.gone && s.sub(i-w.gone) > 0 {
			break
		}
		at -= p.size
	}
	return at
}

// move writes the window as of w: older counts make room for those that began.
func (p *Spec) move(s *State, w slide) {
	if len(s.More) == 0 {
		s.More = make([]int64, p.Sub)
	}
	if w.gone > 0 {
		copy(s.More[w.gone:], s.More)
		clear(s.More[:w.gone])
	}
	s.T, s.F = w.end+p.Period-p.size, w.used
}

func (p *Spec) spendSliding(s *State, now, cost int64) {
	p.spendSlide(s, p.slideAt(s, now), cost)
}

func (p *Spec) spendSlide(s *State, w slide, cost int64) {
	p.move(s, w)
	s.More[0] = addCount(s.More[0], cost)
	s.F = addCount(s.F, cost)
}

func (p *Spec) refundSliding(s *State, now, cost int64) {
	w := p.slideAt(s, now)
	if w.used == 0 {
		return
	}
	p.move(s, w)
	for i := range s.More {
		back := min(cost, s.More[i])
		s.More[i] -= back
		s.F -= back
		cost -= back
	}
}

func (p *Spec) cutSliding(s *State, now int64) bool {
	w := p.slideAt(s, now)
	if w.gone > 0 || w.end+p.Period-p.size == s.T {
		return false
	}
	p.move(s, w)
	return true
}
