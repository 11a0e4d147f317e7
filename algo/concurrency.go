package algo

// Permits is what a concurrency limit remembers of one key: who is in flight.
// Every permit has an owner and an expiry, so that a holder that died gives its
// own back. Zero is a key never seen.
type Permits struct {
	Held  []Permit
	Total int64 // permits in Held
	First int64 // no permit expires before this instant
	Last  int64 // none expires after it
	At    int64 // the instant of the last write
}

// Permit is what one owner holds.
type Permit struct {
	Owner string
	Count int64
	Until int64 // from this instant on it is expired
}

// compileConcurrency leaves nothing that [Check] could admit: a limit of this
// kind is asked through [Spec.Acquire].
func (p *Spec) compileConcurrency() error {
	if p.Count < 1 || p.Count > MaxCount {
		return ErrCount
	}
	return nil
}

// Acquire takes cost permits for the owner, who keeps them for hold µs. An owner
// that has some already gets the new number and the new expiry. Cost 0 is a peek.
// Of the verdict X is what remains, Y the time until the first permit may expire
// and Z the time until the last one does.
func (p *Spec) Acquire(s *Permits, now int64, owner string, cost, hold int64) Verdict {
	s.Sweep(now)
	i, mine := s.find(owner)
	asked := max(cost, 1)
	switch {
	case asked > p.Count:
		return Verdict{Never: true, X: p.Count - s.Total, Z: s.left(now)}
	case s.Total-mine+asked > p.Count:
		return Verdict{X: p.Count - s.Total, Y: max(1, s.First-now), Z: s.left(now)}
	case cost == 0:
		return Verdict{Allowed: true, X: p.Count - s.Total, Z: s.left(now)}
	}
	s.put(i, Permit{owner, cost, now + hold}, now)
	s.Total += cost - mine
	return Verdict{Allowed: true, X: p.Count - s.Total, Z: s.left(now)}
}

// Renew lets the owner's permits live for another hold µs, and reports whether
// it still had any.
func (p *Spec) Renew(s *Permits, now int64, owner string, hold int64) bool {
	s.Sweep(now)
	i, mine := s.find(owner)
	if i < len(s.Held) {
		s.put(i, Permit{owner, mine, now + hold}, now)
	}
	return mine > 0
}

// Release gives the owner's permits back, and reports whether it still had any.
func (p *Spec) Release(s *Permits, now int64, owner string) bool {
	s.Sweep(now)
	i, mine := s.find(owner)
	if i < len(s.Held) {
		s.Held = append(s.Held[:i], s.Held[i+1:]...)
		s.Total, s.At = s.Total-mine, now
	}
	return mine > 0
}

// Sweep drops what has expired. If the clock went back, every permit keeps the
// time that it had left. [Spec.Acquire], Renew and Release begin with it; a store
// writes it also if it denies.
func (s *Permits) Sweep(now int64) {
	if back := s.At - now; back > 0 {
		for i := range s.Held {
			s.Held[i].Until -= back
		}
		s.First, s.Last, s.At = s.First-back, s.Last-back, now
	}
	if now < s.First || len(s.Held) == 0 {
		return
	}
	all := s.Held
	*s = Permits{Held: all[:0], At: now}
	for _, h := range all {
		if h.Until > now {
			s.Total += h.Count
			s.widen(h.Until)
			s.Held = append(s.Held, h)
		}
	}
}

// find returns the place of the owner's permits, which is behind all if it has
// none, and their number.
func (s *Permits) find(owner string) (i int, count int64) {
	for i, h := range s.Held {
		if h.Owner == owner {
			return i, h.Count
		}
	}
	return len(s.Held), 0
}

func (s *Permits) put(i int, h Permit, now int64) {
	s.widen(h.Until)
	if s.At = now; i == len(s.Held) {
		s.Held = append(s.Held, h)
	} else {
		s.Held[i] = h
	}
}

// widen makes the bounds of all expiries hold one more.
func (s *Permits) widen(until int64) {
	if len(s.Held) == 0 {
		s.First, s.Last = until, until
	}
	s.First, s.Last = min(s.First, until), max(s.Last, until)
}

// left is the time until the last permit expires.
func (s *Permits) left(now int64) int64 {
	if len(s.Held) == 0 {
		return 0
	}
	return s.Last - now
}
