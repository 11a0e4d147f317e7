package algo

// Repeat answers a request from the denial of an earlier one alone: the denied
// one had at most this cost and at least this patience, and was decided elapsed
// µs ago. The answer is that of a state from which nobody has spent or given
// back since. ok is false if the denial does not tell: it has run out, or the
// request is a peek or could never be admitted.
//
// For buckets and the warm-up limiter the answer is exact. For windows and logs
// Remaining is what it was, which may be more by now, and RetryAfter is that of
// the cost that was denied: a larger one may have to wait for longer.
func (p *Spec) Repeat(v Verdict, elapsed, cost, maxWait int64) (_ Verdict, ok bool) {
	if v.Allowed || v.Never || cost < 1 || cost > p.most || elapsed < 0 {
		return Verdict{}, false
	}
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		s := State{T: v.X, F: v.Y, G: p.n, Ahead: true}
		if s.F >= p.n { // a word's verdict holds all of it in Y
			s.T, s.F = s.T+s.F/p.n, s.F%p.n
		}
		v = Check(p, &s, elapsed, cost, maxWait)
	case IntervalBucket:
		missing := p.Burst - v.X
		s := State{T: v.Z, F: ceilDiv(v.Z, p.Period)*p.Count - missing, Ahead: missing > p.Burst}
		v = Check(p, &s, elapsed, cost, maxWait)
	case WarmUp:
		v.Z -= elapsed
		v.Y = v.Z - max(0, min(maxWait, p.MaxWait))
	default:
		v.Y, v.Z = v.Y-elapsed, v.Z-elapsed
	}
	return v, p.RetryAfter(v) > 0
}

// Blind returns a verdict that was reached without a look at the state: nothing
// is known to remain, and a denial can be asked again after retry µs.
func (p *Spec) Blind(allowed bool, retry int64) Verdict {
	if p.Kind == Unlimited || p.Kind == Ban {
		return Check(p, &State{}, 0, 1, 0)
	}
	v := Verdict{Allowed: allowed}
	bucket := p.Kind == TokenBucket || p.Kind == LeakyBucket
	if bucket {
		v.X, v.Y = p.capQ, p.capR
	}
	switch {
	case allowed:
	case bucket:
		v.Z = retry
	default:
		v.Y = retry
	}
	return v
}
