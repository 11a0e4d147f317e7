package algo

// The token bucket that refills in steps: Count tokens every Period, the steps
// counted from the request that took the bucket out of its full state. T is the
// instant of full recovery, which is always a step; F is what the last step
// before it will have left over (0 ≤ F < Count).

func (p *Spec) compileInterval() error {
	if err := p.checkSpeed(); err != nil {
		return err
	}
	if p.Burst < 1 || p.Burst > MaxCount {
		return ErrBurst
	}
	p.most = p.Burst
	p.steps = ceilDiv(p.Burst, p.Count)
	if q, _ := mulDiv(p.steps, p.Period, 1); q > MaxSpan {
		return ErrSlow
	}
	// What is booked ahead must stay countable.
	if q, _ := mulDiv(MaxTotal/p.Count, p.Period, 1); q < p.MaxWait {
		p.MaxWait = q
	}
	return nil
}

// intervalAt returns the instant of full recovery, the steps until then and
// the tokens missing now, cut to what the limit allows.
func (p *Spec) intervalAt(s *State, now int64) (t, steps, missing int64, cut bool) {
	if s.T <= now {
		return now, 0, 0, false
	}
	t = s.T
	limit := p.steps * p.Period
	if s.Ahead {
		limit += p.MaxWait
	}
	if t-now > limit {
		t, cut = now+limit, true
	}
	steps = ceilDiv(t-now, p.Period)
	missing = steps*p.Count - min(s.F, p.Count-1)
	if !s.Ahead && missing > p.Burst { // the limit shrank: empty, no less
		t -= (steps - p.steps) * p.Period
		steps, missing, cut = p.steps, p.Burst, true
	}
	return t, steps, missing, cut
}

func (p *Spec) checkInterval(v *Verdict, s *State, now, asked, cost, maxWait int64) {
	t, steps, missing, _ := p.intervalAt(s, now)
	wait := int64(0)
	if over := missing + asked - p.Burst; over > 0 {
		wait = t - (steps-ceilDiv(over, p.Count))*p.Period - now
	}
	v.Z = t - now
	switch {
	case wait > maxWait:
		v.Y = wait - maxWait
	case cost == 0:
		v.Allowed = true
	default:
		v.Allowed, v.Wait = true, wait
		missing += cost
		v.Z += (ceilDiv(missing, p.Count) - steps) * p.Period
	}
	v.X = p.Burst - missing
}

func (p *Spec) spendInterval(s *State, now, cost int64) {
	t, steps, missing, _ := p.intervalAt(s, now)
	// More debt than the limit allows is forgotten.
	most := p.Burst + (p.MaxWait/p.Period+1)*p.Count
	p.putInterval(s, t, steps, min(missing+cost, most))
}

func (p *Spec) refundInterval(s *State, now, cost int64) {
	t, steps, missing, _ := p.intervalAt(s, now)
	p.putInterval(s, t, steps, max(0, missing-cost))
}

func (p *Spec) cutInterval(s *State, now int64) bool {
	t, steps, missing, cut := p.intervalAt(s, now)
	if cut {
		p.putInterval(s, t, steps, missing)
	}
	return cut
}

// putInterval writes the state in which missing tokens are gone and full
// recovery, which was steps steps away, was due at t.
func (p *Spec) putInterval(s *State, t, steps, missing int64) {
	need := ceilDiv(missing, p.Count)
	s.T = t + (need-steps)*p.Period
	s.F = need*p.Count - missing
	s.Ahead = missing > p.Burst
}
