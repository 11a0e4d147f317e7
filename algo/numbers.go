package algo

// Numbers appends what a mirror of this package in doubles needs to decide:
// the largest admissible cost, the longest wait, and then what the algorithm
// uses, in the order in which it stands below. All are integers below 2⁵³ but
// those of warm_up, so that none loses anything.
func (p *Spec) Numbers(to []float64) []float64 {
	to = append(to, float64(p.most), float64(p.MaxWait))
	switch p.Kind {
	case TokenBucket, LeakyBucket:
		return appendNumbers(to, p.n, p.per, p.capQ, p.capR, p.oneQ, p.oneR)
	case IntervalBucket:
		return appendNumbers(to, p.Count, p.Period, p.Burst, p.steps)
	case WarmUp:
		w := &p.warm
		return append(to, float64(p.Warm), w.stable, w.slope, w.threshold, w.max, w.cool)
	case FixedWindow:
		return p.fixedNumbers(to)
	case SlidingWindow:
		return appendNumbers(to, p.Count, p.Period, p.Sub)
	case WeightedWindow:
		return appendNumbers(to, p.Count, p.Period)
	case SlidingLog:
		to = append(to, float64(p.longest))
		for _, w := range p.Windows {
			to = appendNumbers(to, w.Count, w.Period)
		}
	case Concurrency:
		return appendNumbers(to, p.Count)
	}
	return to
}

// fixedNumbers appends 1 for a window from the first hit, and the boundaries of a
// calendar.
func (p *Spec) fixedNumbers(to []float64) []float64 {
	first := int64(0)
	if p.FirstHit {
		first = 1
	}
	to = appendNumbers(to, p.Count, p.Period, first)
	return appendNumbers(to, p.Bounds...)
}

func appendNumbers(to []float64, numbers ...int64) []float64 {
	for _, n := range numbers {
		to = append(to, float64(n))
	}
	return to
}

// BucketMark is the mark of a token or leaky bucket whose verdict at now allowed
// a cost, so that nobody has to carry it.
func (p *Spec) BucketMark(v Verdict, now int64) Mark { return Mark{now + v.X, v.Y, p.n} }

// RefusedWindow is the window of a log that is too small for cost, as the verdict
// of a cost that can never be admitted names it; 0 for all other limits.
func (p *Spec) RefusedWindow(cost int64) uint8 {
	for i, w := range p.Windows {
		if cost > w.Count {
			return uint8(i)
		}
	}
	return 0
}
