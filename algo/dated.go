package algo

// Whoever decides on a state that others change too must not decide by an instant
// before theirs. Either he reads the clock while the state is his; or he reads it
// before, and asks the state whether it has been overtaken.

// Dated reports whether states of this limit can tell that, see [Spec.Overtaken].
func (p *Spec) Dated() bool { return p.span > 0 }

// Overtaken reports whether s, a state of this limit, was written later than now, as
// far as a decision can see: a window is all the same from its start to its end. Only
// of a weighted one more is free with every µs: what is allowed by an earlier instant
// is right, and what is denied may be allowed by now. It is always true if the limit is
// not dated.
func (p *Spec) Overtaken(s *State, now int64) bool {
	if p.Kind == WarmUp {
		return len(s.More) == warmWords && s.More[warmLast] > now
	}
	return p.span == 0 || s.T-now > p.span
}

// spanOf returns how far State.T lies ahead at most when it is written. A limit whose
// states do not tell more than that when they were written has none.
func (p *Spec) spanOf() int64 {
	switch p.Kind {
	case WarmUp: // which keeps the instant itself
		return 1
	case FixedWindow:
		if p.Bounds == nil {
			return p.Period
		}
	case SlidingWindow:
		return p.Period
	case WeightedWindow:
		return 2 * p.Period
	case SlidingLog:
		return p.longest
	}
	return 0
}
