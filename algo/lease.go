package algo

// What a lease has to know of a limit: how long tokens that were taken ahead may
// be spent, what their age costs, and what one answer of the store tells about
// the requests after it.

// Leasable reports whether tokens of the limit can be taken ahead.
func (p *Spec) Leasable() bool {
	switch p.Kind {
	case TokenBucket, FixedWindow, SlidingWindow:
		return true
	}
	return false
}

// RefillIn is what flows into a bucket within the given µs, rounded up.
func (p *Spec) RefillIn(span int64) int64 { return mulDivCeil(p.Count, span, p.Period) }

// TurnAfter is the time in µs from an allowed decision with a cost to the end of
// the window, or of the sub-window, that it was counted in. Buckets have no such
// end and return MaxSpan.
func (p *Spec) TurnAfter(v Verdict) int64 {
	switch p.Kind {
	case FixedWindow:
		return v.Z
	case SlidingWindow:
		return v.Z - (p.Period - p.Period/p.Sub)
	}
	return MaxSpan
}

// Moved is the answer v with cost more spent; a negative cost is one that was
// not spent after all. It serves the algorithms that are [Spec.Leasable].
func (p *Spec) Moved(v Verdict, cost int64) Verdict {
	switch {
	case p.Kind != TokenBucket:
		v.X -= cost
	case cost < 0:
		q, r := p.price(-cost)
		v.X, v.Y = v.X-q, v.Y-r
	default:
		q, r := p.price(cost)
		v.X, v.Y = v.X+min(q, 2*MaxSpan), v.Y+r
	}
	return v
}

// DenialAfter is how a request for cost, no more than the limit can ever admit,
// would have been denied at the same instant right after the decision v. known
// is false if it would not have been, or if v does not tell until when.
func (p *Spec) DenialAfter(v Verdict, cost int64) (denial Verdict, known bool) {
	if cost <= p.Remaining(v) {
		return Verdict{}, false
	}
	switch p.Kind {
	case FixedWindow:
		return Verdict{X: v.X, Y: v.Z, Z: v.Z}, true
	case TokenBucket:
		t, f := v.X+v.Y/p.n, v.Y%p.n
		nt, nf := p.addPrice(t, f, cost)
		wait := nt - p.capQ
		if nf > p.capR {
			wait++
		}
		return Verdict{X: t, Y: f, Z: wait}, true
	}
	return Verdict{}, false
}
