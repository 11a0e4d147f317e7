package algo

// The token bucket, smooth. Its state is the instant at which it will be full
// again, T + F/n µs with n from the reduced rate n per p µs; G is that n. A cost
// moves the instant by cost·p/n µs. The leaky bucket shares this state: there
// the instant is the next free departure.

func (p *Spec) compileBucket(capacity int64) error {
	if err := p.checkSpeed(); err != nil {
		return err
	}
	if p.Burst < 1 || p.Burst > MaxCount {
		return ErrBurst
	}
	p.most = capacity
	p.oneQ, p.oneR = p.per/p.n, p.per%p.n
	p.capQ, p.capR = mulDiv(capacity, p.per, p.n)
	if p.capQ > MaxSpan {
		return ErrSlow
	}
	return nil
}

// price returns the time that cost takes, as whole µs and n-ths of a µs.
func (p *Spec) price(cost int64) (q, r int64) {
	if cost == 1 {
		return p.oneQ, p.oneR
	}
	return mulDiv(cost, p.per, p.n)
}

// bucketAt returns the instant of full recovery as of now: never in the past,
// in this spec's unit, and cut to what the limit allows.
func (p *Spec) bucketAt(s *State, now int64) (t, f int64, cut bool) {
	t, f = s.T, s.F
	if s.G != p.n && f > 0 { // another rate wrote it: the same instant in our unit, rounded up
		f = mulDivCeil(f, p.n, s.G)
		t, f = t+f/p.n, f%p.n
	}
	if t < now {
		return now, 0, false
	}
	limit := p.capQ
	if s.Ahead {
		limit += p.MaxWait
	}
	if t-now > limit || t-now == limit && f > p.capR {
		return now + limit, p.capR, true
	}
	return t, f, false
}

func (p *Spec) checkBucket(v *Verdict, s *State, now, asked, cost, maxWait int64) {
	t, f, _ := p.bucketAt(s, now)
	nt, nf := p.addPrice(t, f, asked)
	wait := nt - now - p.capQ
	if nf > p.capR {
		wait++
	}
	v.X, v.Y = t-now, f
	switch {
	case wait > maxWait:
		v.Z = wait - maxWait
	case cost == 0:
		v.Allowed = true
	default:
		v.Allowed, v.Wait, v.X, v.Y = true, max(0, wait), nt-now, nf
	}
}

func (p *Spec) addPrice(t, f, cost int64) (nt, nf int64) {
	q, r := p.price(cost)
	nt, nf = t+min(q, 2*MaxSpan), f+r
	if nf >= p.n {
		nt, nf = nt+1, nf-p.n
	}
	return nt, nf
}

func (p *Spec) spendBucket(s *State, now, cost int64) {
	t, f, _ := p.bucketAt(s, now)
	t, f = p.addPrice(t, f, cost)
	if t-now > p.capQ+p.MaxWait { // more debt than the limit allows
		t, f = now+p.capQ+p.MaxWait, p.capR
	}
	p.putBucket(s, now, t, f)
}

func (p *Spec) refundBucket(s *State, now, cost int64) {
	q, r := p.price(cost)
	p.moveBack(s, now, min(q, 2*MaxSpan), r)
}

// moveBack brings the instant of full recovery q + r/n µs nearer, at most to
// now: one in the past would be a gift to a clock that goes back.
func (p *Spec) moveBack(s *State, now, q, r int64) {
	t, f, _ := p.bucketAt(s, now)
	t, f = t-q, f-r
	if f < 0 {
		t, f = t-1, f+p.n
	}
	if t < now {
		t, f = now, 0
	}
	p.putBucket(s, now, t, f)
}

func (p *Spec) cutBucket(s *State, now int64) bool {
	t, f, cut := p.bucketAt(s, now)
	if cut {
		p.putBucket(s, now, t, f)
	}
	return cut
}

func (p *Spec) putBucket(s *State, now, t, f int64) {
	s.T, s.F, s.G = t, f, p.n
	s.Ahead = t-now > p.capQ || t-now == p.capQ && f > p.capR
}

// bucketRemaining counts the whole tokens between due (X + Y/n µs until full)
// and the capacity.
func (p *Spec) bucketRemaining(v Verdict) int64 {
	q, r := p.capQ-v.X, p.capR-v.Y
	if r < 0 { // Y may hold more than one µs
		b := ceilDiv(-r, p.n)
		q, r = q-b, r+b*p.n
	}
	if q < 0 {
		return 0
	}
	return floorTokens(q, r, p.n, p.per)
}

// bucketReset rounds the time until full up.
func (p *Spec) bucketReset(v Verdict) int64 { return v.X + ceilDiv(v.Y, p.n) }
