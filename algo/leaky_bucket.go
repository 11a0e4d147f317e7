package algo

// The leaky bucket lets one request out every p/n µs. Its state is the token
// bucket's, read differently: T + F/n is the next free departure. A request
// leaves at that instant, or now if that has passed, and moves it on by its
// cost. The queue holds Burst besides the one at the outlet.

func (p *Spec) checkLeaky(v *Verdict, s *State, now, asked, cost, maxWait int64) {
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
	v.X, v.Y = t-now, f
	switch {
	case retry > 0:
		v.Z = retry
	case cost == 0:
		v.Allowed = true
	default:
		v.Allowed, v.Wait, v.X, v.Y = true, wait, nt-now, nf
	}
}
