package algo

// What is given back to a bucket. A spend of price P at the instant at took the
// place that ends at its mark. It still counts from now to the end of its place,
// wherever returns have moved that; and, wherever that is, if all but now-at of
// it is given back: what stays then kept the bucket busy until now by itself, so
// that no refill is counted twice.

// Uncounted is a shift larger than any that matters.
const Uncounted = 1 << 53

// Shift tells how far the newest booking of a state was moved forward between
// two of its marks, and all places behind what was given back with it: in µs,
// rounded up, for an IntervalBucket in tokens. Windows and logs have no places.
func (p *Spec) Shift(before, after Mark) int64 {
	moved := before.A - after.A
	switch {
	case !p.Books() || moved < 0:
		return 0
	case p.Kind == IntervalBucket:
		moved, _ = mulDiv(ceilDiv(moved, p.Period), p.Count, 1)
		moved = min(moved, Uncounted) + after.B - before.B
	case before.B > after.B || before.C != after.C && before.B > 0:
		moved++
	}
	return max(0, moved)
}

// Shifted returns the mark of a booking whose place was moved forward by shift.
func (p *Spec) Shifted(m Mark, shift int64) Mark {
	switch {
	case !p.Books() || shift == 0:
		return m
	case p.Kind == IntervalBucket:
		left := m.B + min(shift, Uncounted)
		back, _ := mulDiv(left/p.Count, p.Period, 1)
		return Mark{m.A - min(back, Uncounted), left % p.Count, m.C}
	}
	return Mark{m.A - min(shift, Uncounted), m.B, m.C}
}

// returnBucket gives back the price of cost, at most the time until the end of
// its place.
func (p *Spec) returnBucket(s *State, now, cost, at int64, mark Mark, shift int64) {
	q, r := p.price(cost)
	q = min(q, 2*MaxSpan)
	left, part := mark.A-now, mark.B
	if mark.C != p.n && part > 0 { // another rate wrote it: less than that in our unit
		part, _ = mulDiv(part, p.n, mark.C)
	}
	if shift > 0 {
		sureQ, sureR := lesser(left, part, q-(now-at), r)
		if left -= min(shift, Uncounted); left < sureQ || left == sureQ && part < sureR {
			left, part = sureQ, sureR
		}
	}
	if q, r = lesser(q, r, left, part); q >= 0 {
		p.moveBack(s, now, q, r)
	}
}

// lesser returns the lesser of two times in whole µs and parts of one.
func lesser(q, r, left, part int64) (int64, int64) {
	if q > left || q == left && r > part {
		return left, part
	}
	return q, r
}

// returnInterval gives back cost, at most the tokens that its place still lacks.
func (p *Spec) returnInterval(s *State, now, cost, at int64, mark Mark, shift int64) {
	left := p.lacking(mark, now)
	if shift > 0 && left > 0 {
		steps := ceilDiv(max(0, mark.A-at), p.Period) - ceilDiv(mark.A-now, p.Period)
		refilled, _ := mulDiv(max(0, steps), p.Count, 1)
		left = max(p.lacking(p.Shifted(mark, shift), now), min(left, cost-refilled))
	}
	if left > 0 {
		p.refundInterval(s, now, min(cost, left))
	}
}

// lacking returns the tokens that are missing up to a mark.
func (p *Spec) lacking(m Mark, now int64) int64 {
	_, _, missing, _ := p.intervalAt(&State{T: m.A, F: m.B, Ahead: true}, now)
	return missing
}

// returnWarmUp gives back the time that cost took, at most that until the end of
// its place.
func (p *Spec) returnWarmUp(s *State, now, cost, at int64, mark Mark, shift int64) {
	w := p.warmAt(s, now)
	left := float64(mark.A-now) + floatOf(mark.B)
	if shift > 0 {
		time, _ := p.lastPrice(w, cost)
		left = max(left-float64(min(shift, Uncounted)), min(left, time-float64(now-at)))
	}
	p.giveBackWarm(s, now, w, cost, left)
}
