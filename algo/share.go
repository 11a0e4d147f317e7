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

// divideWindow makes a spec for every number of windows in which this instance
// has its turn: of a log they may have different remainders.
func (s *Share) divideWindow() {
	p := s.whole
	s.turn = p.Period
	if p.Kind == SlidingLog {
		s.turn = p.longest
	}
	if p.Kind != FixedWindow || p.FirstHit {
		s.turn, s.late = turnPeriods*s.turn, s.turn
	}
	if p.Kind != SlidingLog {
		s.cut(p.Count)
	}
	for _, w := range p.Windows {
		s.cut(w.Count)
	}
	for _, residue := range append([]int64{0}, s.cuts...) {
		s.specs = append(s.specs, p.counted(func(n int64) int64 { return (n + residue) / s.live }))
	}
}

// cut notes from which residue on a count has one more for this instance.
func (s *Share) cut(count int64) {
	over := count % s.live
	if over == 0 {
		return
	}
	i := s.variant(s.live - over)
	if i > 0 && s.cuts[i-1] == s.live-over {
		return
	}
	s.cuts = append(s.cuts, 0)
	copy(s.cuts[i+1:], s.cuts[i:])
	s.cuts[i] = s.live - over
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

func (s *Share) variant(residue int64) int {
	i := 0
	for i < len(s.cuts) && s.cuts[i] <= residue {
		i++
	}
	return i
}

// residue is (rank + k) mod live in turn k, and as long as the last turn still
// counts no more than it was then.
func (s *Share) residue(now int64) int64 {
	start, k := s.begin(now)
	r := (s.rank + k) % s.live
	if now-start < s.late {
		r = min(r, (s.rank+k+s.live-1)%s.live)
	}
	return r
}

// begin returns the start and the number of the turn of now. All instances
// number calendar windows alike, though not all in a row.
func (s *Share) begin(now int64) (start, k int64) {
	if s.whole.Bounds == nil {
		return now - now%s.turn, now / s.turn
	}
	start, _ = s.whole.calendarBounds(now)
	return start, max(0, start) / s.turn
}

// Read turns a verdict by the limit that At returned into one that is read by
// the whole limit: Remaining and RetryAfter are this instance's; ResetAfter may
// be later for a bucket. What this instance cannot admit now but in a later turn
// is denied until then.
func (s *Share) Read(by *Spec, v Verdict, now, cost int64) Verdict {
	p := s.whole
	switch {
	case by == p:
	case p.Kind == TokenBucket || p.Kind == LeakyBucket:
		v.X, v.Y = p.during(by, v)
	case v.Never && len(s.cuts) > 0:
		if at := s.nextTurn(now, max(1, cost)); at > 0 {
			v.Never, v.Y = false, at-now
			if s.late > 0 { // what was spent may outlive the turn
				v.Y = max(v.Y, v.Z)
			}
		}
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

// nextTurn is the instant of the next turn in which cost fits into the share, or
// 0 if there is none.
func (s *Share) nextTurn(now, cost int64) int64 {
	last := len(s.specs) - 1
	if cost > s.specs[last].most {
		return 0
	}
	start, k := s.begin(now)
	if s.whole.Bounds != nil {
		return s.nextCalendar(now, cost)
	}
	for m := range s.live + 1 {
		if s.specs[s.variant((s.rank+k+m)%s.live)].most >= cost {
			return start + m*s.turn + s.late
		}
	}
	return 0
}

// nextCalendar is nextTurn for calendar windows.
func (s *Share) nextCalendar(now, cost int64) int64 {
	for range 4 * s.live {
		_, now = s.whole.calendarBounds(now)
		if s.At(now).most >= cost {
			return now
		}
	}
	return 0
}
