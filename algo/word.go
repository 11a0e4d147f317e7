package algo

// A token bucket's whole state fits into one machine word, so that it can be
// decided with one compare-and-swap: the instant of full recovery counted in
// n-ths of a µs from an epoch. These functions are the same decisions as those
// on a [State], in that form; now is in µs since the epoch.

// Bits of a word. The two highest belong to whoever keeps the word.
const (
	WordAhead = 1 << 61 // State.Ahead
	wordMask  = WordAhead - 1
)

// MaxWordTime is the latest instant in µs since the epoch at which a word may
// be used: eleven years.
const MaxWordTime = 11 * 366 * 24 * 3600 * 1e6

// compileWord finds out whether every state of the bucket fits into a word.
func (p *Spec) compileWord() {
	span := MaxWordTime + p.MaxWait + 2*(p.capQ+1)
	if q, _ := mulDiv(span, p.n, 1); q < WordAhead {
		p.unit = uint64(p.n)
		p.capW = p.Burst * p.per
		p.aheadW = p.MaxWait * p.n
	}
}

// WordUnit returns n, in whose parts of a µs words of this limit count, or 0 if
// the limit is not a token bucket or its states do not fit into a word.
func (p *Spec) WordUnit() uint64 { return p.unit }

// TakeWord is the common case of [Spec.DecideWord]: a cost that fits into the
// limit, without waiting, on a word with nothing booked ahead. due is the time
// until full after the request, in n-ths of a µs, and above [Spec.WordCapacity]
// if it has to be denied; next is the word of an allowed one. When easy is false,
// DecideWord has to look.
func (p *Spec) TakeWord(w uint64, now, cost int64) (next uint64, due int64, easy bool) {
	at := now * p.n
	due = max(int64(w)-at, 0)
	easy = w < WordAhead && due <= p.capW && uint64(cost-1) < uint64(p.most)
	due += cost * p.per
	return uint64(at + due), due, easy
}

// WordCapacity is the capacity of the bucket in n-ths of a µs.
func (p *Spec) WordCapacity() int64 { return p.capW }

// DenyWord fills in the verdict of a request that TakeWord found to be due too
// late.
func (p *Spec) DenyWord(due, cost int64) Verdict {
	return Verdict{Y: due - cost*p.per, Z: p.micros(due - p.capW)}
}

// DecideWord is [Decide] on a word. It returns the word to write, which is w
// itself when there is nothing to write. cut tells that w lay further ahead
// than the limit allows; see [Cut].
func (p *Spec) DecideWord(w uint64, now, cost, maxWait int64) (next uint64, v Verdict, cut bool) {
	at := now * p.n
	full, limit := max(int64(w&wordMask), at), p.capW
	if w&WordAhead != 0 {
		limit += p.aheadW
	}
	if full-at > limit {
		full, cut = at+limit, true
	}
	asked := max(cost, 1)
	wait := int64(0)
	if asked <= p.most {
		if over := full + asked*p.per - at - p.capW; over > 0 {
			wait = p.micros(over)
		}
		maxWait = max(0, min(maxWait, p.MaxWait))
	} else {
		v.Never, wait, maxWait = true, 1, 0
	}
	v.Y = full - at
	switch {
	case wait > maxWait:
		if !v.Never {
			v.Z = wait - maxWait
		}
		if cut && cost > 0 {
			w = uint64(full) | w&WordAhead
		}
		return w, v, cut
	case cost == 0:
		v.Allowed = true
		return w, v, cut
	}
	v.Y += cost * p.per
	next = uint64(full + cost*p.per)
	if v.Y > p.capW {
		next |= WordAhead
	}
	v.Allowed, v.Wait = true, wait
	return next, v, cut
}

// micros rounds n-ths of a µs up to µs.
func (p *Spec) micros(nths int64) int64 {
	if p.n == 1 {
		return nths
	}
	return ceilDiv(nths, p.n)
}

// WordState turns a word of the given unit into a state.
func WordState(w uint64, unit uint64, epoch int64) State {
	full := w & wordMask
	if full == 0 {
		return State{}
	}
	return State{
		T:     epoch + int64(full/unit),
		F:     int64(full % unit),
		G:     int64(unit),
		Ahead: w&WordAhead != 0,
	}
}

// StateWord turns a state that this spec has written into a word.
func (p *Spec) StateWord(s *State, epoch int64) uint64 {
	w := uint64(max(0, s.T-epoch))*p.unit + uint64(s.F)
	if s.Ahead {
		w |= WordAhead
	}
	return w
}
