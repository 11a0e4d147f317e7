package algo

// Share is one instance's part of a limit that several instances divide among
// themselves. The parts add up to the limit.
//
// A bucket is divided by its rate and its burst, and stays what it is. Of a
// window's count every instance gets the same, and what is left over goes round:
// with every turn the part of one instance grows by one and another's shrinks.
//
//   - A fixed window is a turn: all spends of a turn are gone with it, so the
//     parts add up in every window.
//   - Where spends count on into the next turn (sliding windows, logs, windows
//     from the first request) a turn takes ten periods, and what grows does so one
//     period late: until then the one that shrank may have spent it. So in any
//     trailing period the greatest parts of all instances add up to no more than
//     the limit.
//
// State goes on from one share to the next: all have the shape of the whole.
type Share struct {
	whole      *Spec
	rank, live int64
	specs      []*Spec // by what this instance gets of what is left over
	cuts       []int64 // the residues from which on it is the next of them
	turn, late int64   // µs
}

// turnPeriods is how many periods a turn takes where spends outlive it.
const turnPeriods = 10

// Share returns the part that the instance of the given rank (0 ≤ rank < live)
// has of the limit.
func (p *Spec) Share(rank, live int64) *Share {
	s := &Share{whole: p, rank: rank, live: live}
	switch p.Kind {
	case Unlimited, Ban:
		s.specs = []*Spec{p}
	case TokenBucket, LeakyBucket, WarmUp, IntervalBucket:
		s.specs = []*Spec{p.bucketShare(rank, live)}
	case Concurrency: // permits are held for as long as they are: nothing goes round
		s.specs = []*Spec{p.counted(func(n int64) int64 { return (n + rank) / live })}
	default:
		s.divideWindow()
	}
	if live == 1 {
		s.specs, s.cuts = []*Spec{p}, nil
	}
	return s
}

// bucketShare returns a bucket of rate/live and burst/live, but at least 1. A
// limit too slow to be divided is left to the first instance.
func (p *Spec) bucketShare(rank, live int64) *Spec {
	part := *p
	part.Burst = max(1, p.Burst/live)
	if p.Kind == IntervalBucket {
		part.Count = (p.Count + rank) / live // steps stay as long as they are
		if p.Count < live {
			part.Count = 1
			part.Period = mulDivCeil(p.Period, live, p.Count)
		}
	} else {
		g := gcd(p.n, live)
		part.Count, part.Period = p.n/g, MaxSpan+1
		if p.per <= MaxSpan/(live/g) {
			part.Period = p.per * (live / g)
		}
	}
	c, err := Compile(part)
	switch {
	case err == nil:
	case rank == 0:
		return p
	default:
		c = &Spec{Kind: Ban}
	}
	c.shape = p.shape
	return c
}

// counted returns the limit with other counts. A count of 0 admits nothing.
func (p *Spec) counted(count func(int64) int64) *Spec {
	part := *p
	part.Count = count(p.Count)
	part.most = part.Count
	part.Windows = append([]Window(nil), p.Windows...)
	for i := range part.Windows {
		w := &part.Windows[i]
		w.Count = count(w.Count)
		if part.most = min(part.most, w.Count); i == 0 {
			part.most = w.Count
		}
	}
	if p.Kind == Concurrency {
		part.most = 0
	}
	return &part
}

// Of reports whether the share is that of the given rank and number.
func (s *Share) Of(rank, live int64) bool { return s.rank == rank && s.live == live }

// Moves reports whether the share depends on the time of day.
func (s *Share) Moves() bool { return len(s.cuts) > 0 }

// Thin reports whether the limit is too small to give every instance something,
// so that shares of buckets add up to more than the limit, and others are empty
// for a while or for good.
func (s *Share) Thin() bool {
	p := s.whole
	switch p.Kind {
	case Unlimited, Ban, WarmUp:
		return false
	case TokenBucket, LeakyBucket, IntervalBucket:
		return p.Burst < s.live
	case SlidingLog:
		return p.most < s.live
	}
	return p.Count < s.live
}

// At returns the limit that this instance enforces at the instant now, in µs
// since 1970 by the wall clock.
func (s *Share) At(now int64) *Spec {
	if len(s.cuts) == 0 {
		return s.specs[0]
	}
	return s.specs[s.variant(s.residue(now))]
}

// Read turns a verdict by the limit that At returned into one that is read by
// the whole limit: Remaining and RetryAfter are this instance's; ResetAfter may
// be later for a bucket. A denial holds until this instance has a turn in which
// the cost fits; where spends outlive a turn that may be later than need be. Of
// permits Remaining is the whole limit less those of this instance.
func (s *Share) Read(by *Spec, v Verdict, now, cost int64) Verdict {
	p := s.whole
	switch {
	case by == p:
	case p.Kind == TokenBucket || p.Kind == LeakyBucket:
		v.X, v.Y = p.during(by, v)
	case p.Kind == Concurrency:
		v.X += p.Count - by.Count
	case !v.Allowed && len(s.cuts) > 0:
		return s.postpone(v, now, max(1, cost))
	}
	return v
}

// during returns the time until full at which this bucket has as much left as
// the share in the state of v.
func (p *Spec) during(by *Spec, v Verdict) (x, y int64) {
	left := int64(0)
	if by.Kind != Ban {
		left = min(by.Remaining(v), p.most)
	}
	q, r := p.price(left)
	x, y = p.capQ-q, p.capR-r
	if y < 0 {
		x, y = x-1, y+p.n
	}
	return x, y
}
