package algo

// How a window's count goes round among those who share it.

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

// postpone moves a denial on to a turn in which the cost fits.
func (s *Share) postpone(v Verdict, now, cost int64) Verdict {
	at := now + v.Y
	if v.Never {
		if at = s.nextTurn(now, cost); at == 0 {
			return v
		}
	}
	if s.late > 0 && (v.Never || s.variant(s.residue(at)) < s.variant(s.residue(now))) {
		at = max(at, now+v.Z) // then nothing counts any more
	}
	if s.At(at).most < cost {
		at = s.nextTurn(at, cost)
	}
	v.Never, v.Y = false, at-now
	return v
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
