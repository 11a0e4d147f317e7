package algo

// Verdict is one limit's answer. X, Y and Z are raw numbers whose meaning
// depends on the algorithm: read them through [Spec.Remaining],
// [Spec.RetryAfter] and [Spec.ResetAfter], which are computed only when asked.
type Verdict struct {
	Allowed bool
	Never   bool  // denied, and no wait will change that: the cost is above what the limit can ever admit
	Window  uint8 // sliding_log: the index of the window that bound
	Wait    int64 // allowed: go ahead after this many µs
	X, Y, Z int64
}

// Decide asks for cost at the instant now and, if the verdict allows it, spends
// it. maxWait is the longest wait, in µs, that the caller accepts: 0 means now
// or never, and algorithms that cannot book the future ignore it. Cost 0 is a
// peek: it writes nothing, and Allowed tells whether a cost of 1 would pass.
func Decide(p *Spec, s *State, now, cost, maxWait int64) (v Verdict) {
	DecideTo(&v, p, s, now, cost, maxWait)
	return v
}

// DecideTo is [Decide] for those who decide most often: the answer goes to v,
// which must be zero. It reports whether it changed the state.
func DecideTo(v *Verdict, p *Spec, s *State, now, cost, maxWait int64) (changed bool) {
	if 0 < cost && cost <= p.most {
		switch p.Kind {
		case WarmUp:
			return p.decideWarmUp(v, s, now, cost, p.patience(maxWait))
		case SlidingWindow:
			return p.decideSliding(v, s, now, cost)
		}
	}
	p.check(v, s, now, cost, maxWait)
	switch {
	case cost == 0:
		return false
	case v.Allowed:
		Spend(p, s, now, cost)
		return true
	}
	return Cut(p, s, now)
}

// Check answers like [Decide] and writes nothing.
func Check(p *Spec, s *State, now, cost, maxWait int64) (v Verdict) {
	p.check(&v, s, now, cost, maxWait)
	return v
}

// check is [Check] with the answer in v, where it stays: verdicts are too large to
// be copied from one function to the next for nothing.
func (p *Spec) check(v *Verdict, s *State, now, cost, maxWait int64) {
	asked := cost
	if cost == 0 {
		asked = 1
	}
	if asked < 0 || asked > p.most {
		p.refuse(v, s, now, asked)
		return
	}
	maxWait = p.patience(maxWait)
	switch p.Kind {
	case TokenBucket:
		p.checkBucket(v, s, now, asked, cost, maxWait)
	case IntervalBucket:
		p.checkInterval(v, s, now, asked, cost, maxWait)
	case LeakyBucket:
		p.checkLeaky(v, s, now, asked, cost, maxWait)
	case WarmUp:
		p.checkWarmUp(v, s, now, cost, maxWait)
	case FixedWindow:
		p.checkFixed(v, s, now, asked, cost)
	case SlidingWindow:
		p.checkSliding(v, s, now, asked, cost)
	case WeightedWindow:
		p.checkWeighted(v, s, now, asked, cost)
	case SlidingLog:
		p.checkLog(v, s, now, asked, cost)
	default: // Unlimited
		v.Allowed, v.X = true, MaxCount
	}
}

// patience is what counts of the longest wait that a caller accepts.
func (p *Spec) patience(maxWait int64) int64 { return max(0, min(maxWait, p.MaxWait)) }

// refuse is the answer to a cost that the limit can never admit: the state as
// a peek shows it, denied for good.
func (p *Spec) refuse(v *Verdict, s *State, now, asked int64) {
	if p.most > 0 {
		p.check(v, s, now, 0, 0)
	}
	for i, w := range p.Windows { // of a log: the first that is too small
		if asked > w.Count {
			v.Window = uint8(i)
			break
		}
	}
	v.Allowed, v.Never, v.Wait = false, true, 0
}

// Spend takes cost out of the state without asking whether it fits. It is the
// second half of Decide, and by itself it is how a debt is booked.
func Spend(p *Spec, s *State, now, cost int64) {
	cost = min(cost, MaxCount)
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		p.spendBucket(s, now, cost)
	case IntervalBucket:
		p.spendInterval(s, now, cost)
	case WarmUp:
		p.spendWarmUp(s, now, cost)
	case FixedWindow:
		p.spendFixed(s, now, cost)
	case SlidingWindow:
		p.spendSliding(s, now, cost)
	case WeightedWindow:
		p.spendWeighted(s, now, cost)
	case SlidingLog:
		p.spendLog(s, now, cost)
	}
}

// Refund gives cost back: at most what is still counted, newest first. A
// bucket stops at full.
func Refund(p *Spec, s *State, now, cost int64) {
	cost = min(cost, MaxCount)
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		p.refundBucket(s, now, cost)
	case IntervalBucket:
		p.refundInterval(s, now, cost)
	case WarmUp:
		p.refundWarmUp(s, now, cost)
	case FixedWindow:
		p.refundFixed(s, now, cost)
	case SlidingWindow:
		p.refundSliding(s, now, cost)
	case WeightedWindow:
		p.refundWeighted(s, now, cost)
	case SlidingLog:
		p.refundLog(s, now, cost)
	}
}

// Cut brings a state that lies further ahead of now than the limit can ever
// put it back to that point, and reports whether it had to. That happens when
// the clock went back or the limit became smaller. Without it a key would stay
// blocked for as long as the clock jumped.
func Cut(p *Spec, s *State, now int64) bool {
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		return p.cutBucket(s, now)
	case IntervalBucket:
		return p.cutInterval(s, now)
	case WarmUp:
		return p.cutWarmUp(s, now)
	case FixedWindow:
		return p.cutFixed(s, now)
	case SlidingWindow:
		return p.cutSliding(s, now)
	case WeightedWindow:
		return p.cutWeighted(s, now)
	case SlidingLog:
		return p.cutLog(s, now)
	}
	return false
}

// Cancel gives back a booking of cost that made its caller wait, if nothing was
// booked after it: the state must still carry the booking's mark (see
// [Spec.Mark]). A request that did not wait is given back by [Refund]. Cancel
// reports whether it gave anything back.
func Cancel(p *Spec, s *State, now, cost int64, mark Mark) bool {
	if p.Mark(s) != mark {
		return false
	}
	Refund(p, s, now, cost)
	return true
}

// Mark identifies the newest booking of a state.
type Mark struct{ A, B, C int64 }

// Mark returns the mark of the newest booking in s.
func (p *Spec) Mark(s *State) Mark {
	if p.Kind == WarmUp && len(s.More) == warmWords {
		return Mark{s.More[warmNext], s.More[warmFrac], 0}
	}
	return Mark{s.T, s.F, s.G}
}

// Books reports whether the algorithm books the future, so that a caller may
// be allowed with a wait.
func (p *Spec) Books() bool {
	switch p.Kind {
	case TokenBucket, IntervalBucket, LeakyBucket, WarmUp:
		return true
	}
	return false
}

// Remaining is the cost that would still be admitted after the decision.
func (p *Spec) Remaining(v Verdict) int64 {
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		return p.bucketRemaining(v)
	}
	return max(0, v.X)
}

// RetryAfter is the time in µs after which the same request, asked again with
// the same patience, will be allowed if nobody else spends meanwhile: exactly
// then, and not a microsecond before. It is 0 when the request was allowed or
// can never be.
func (p *Spec) RetryAfter(v Verdict) int64 {
	if v.Allowed || v.Never {
		return 0
	}
	if p.Kind == TokenBucket || p.Kind == LeakyBucket {
		return v.Z
	}
	return v.Y
}

// ResetAfter is the time in µs after which nothing that was spent counts any
// more.
func (p *Spec) ResetAfter(v Verdict) int64 {
	if p.Kind == TokenBucket || p.Kind == LeakyBucket {
		return p.bucketReset(v)
	}
	return v.Z
}
