package algo

// The leaky bucket lets one request out every p/n µs. Its state is the token
// bucket's, read differently: T + F/n is the next free departure. A request
// leaves at that instant, or now if that has passed, and moves it on by its
// cost. The queue holds Burst besides the one at the outlet.

func (p *Spec) checkLeaky(s *State, now, asked, cost, maxWait int64) Verdict {
	t, f, _ := p.bucketAt(s, now)
	nt, nf := p.addPrice(t, f, asked)
	wait := t - now // until the departure
	if f > 0 {
		wait++
	}
	full := nt - now - p.capQ // until the queue has room
	if nf > p.capR {
		full++
	}
	retry := max(full, wait-maxWait)
	switch {
	case retry > 0:
		return Verdict{X: t - now, Y: f, Z: retry}
	case cost == 0:
		return Verdict{Allowed: true, X: t - now, Y: f}
	}
	return Verdict{Allowed: true, Wait: wait, X: nt - now, Y: nf}
}
