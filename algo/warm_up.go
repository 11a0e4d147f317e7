package algo

import "math"

// The warm-up limiter: a request is paid for by the wait of the next one, and
// the price falls from cold to stable as requests come, and rises again while
// none do. This is the model of Guava's SmoothWarmingUp. It keeps up to max
// unused permits: while more than threshold of them are left the limiter is
// cold, and the price rises linearly from stable at the threshold to
// cold × stable at max.
//
// More holds four words: the instant at which the next request may go (whole µs
// and a fraction), the warmth, and the instant of the last write. The warmth is
// the time that it takes to be completely cold again: it grows by warm/max per
// permit and falls by 1 per idle µs, so it survives a change of the rate as it
// is. T is when all of it is gone.
//
// Every product is wrapped in float64() so that no compiler fuses it with an
// addition: the result is the same, bit for bit, on every machine.

const (
	warmNext = iota
	warmFrac
	warmth
	warmLast
	warmWords
)

type warmSpec struct {
	stable    float64 // µs per permit when warm
	slope     float64 // how the price rises per permit above the threshold
	threshold float64
	max       float64
	cool      float64 // warmth that one permit brings, µs
}

func (p *Spec) compileWarmUp() error {
	if err := p.checkSpeed(); err != nil {
		return err
	}
	if p.Warm < 1 || p.Warm > MaxSpan || !(p.Cold >= 1 && p.Cold <= 1e6) {
		return ErrWarm
	}
	warm := float64(p.Warm)
	w := &p.warm
	w.stable = float64(p.Period) / float64(p.Count)
	cold := float64(w.stable * p.Cold)
	w.threshold = float64(0.5*warm) / w.stable
	w.max = w.threshold + float64(2*warm)/(w.stable+cold)
	w.slope = (cold - w.stable) / (w.max - w.threshold)
	w.cool = warm / w.max
	p.most = MaxCount
	return nil
}

// warmState is the state as of an instant.
type warmState struct {
	next   int64
	frac   float64
	warmth float64
}

func (p *Spec) warmAt(s *State, now int64) warmState {
	if len(s.More) != warmWords {
		return warmState{next: now}
	}
	w := warmState{s.More[warmNext], floatOf(s.More[warmFrac]), min(floatOf(s.More[warmth]), float64(p.Warm))}
	if back := s.More[warmLast] - now; back > 0 {
		w.next -= back // the clock went back: the wait is what it was
	}
	if idle := float64(now-w.next) - w.frac; idle >= 0 {
		return warmState{next: now, warmth: max(0, w.warmth-idle)}
	}
	return w
}

// wait returns the whole µs until the next request may go.
func (w warmState) wait(now int64) int64 {
	d := w.next - now
	if w.frac > 0 {
		d++
	}
	return d
}

// stored returns the permits that are left unused at a given warmth.
func (p *Spec) stored(warmth float64) float64 {
	return float64(p.warm.max * (1 - warmth/float64(p.Warm)))
}

// storedTime is the integral of the price over take permits out of stored.
func (p *Spec) storedTime(stored, take float64) float64 {
	w := &p.warm
	time := 0.0
	if above := stored - w.threshold; above > 0 {
		slow := min(above, take)
		first := w.stable + float64(above*w.slope)
		last := w.stable + float64((above-slow)*w.slope)
		time = float64(slow*(first+last)) / 2
		take -= slow
	}
	return time + float64(take*w.stable)
}

// pay returns the state after cost.
func (p *Spec) pay(w warmState, now, cost int64) warmState {
	stored := p.stored(w.warmth)
	take := min(float64(cost), stored)
	fresh := float64(cost) - take
	time := p.storedTime(stored, take) + float64(fresh*p.warm.stable)
	w = w.delay(time, now)
	w.warmth = min(float64(p.Warm), w.warmth+float64(take*p.warm.cool))
	if fresh > 0 {
		w.warmth = float64(p.Warm)
	}
	return w
}

// delay moves the next request by time, at most a year from now.
func (w warmState) delay(time float64, now int64) warmState {
	whole := math.Floor(w.frac + min(time, MaxAhead))
	w.frac = w.frac + min(time, MaxAhead) - whole
	w.next = min(w.next+int64(whole), now+MaxAhead)
	return w
}

// checkWarmUp also returns the state after an allowed cost.
func (p *Spec) checkWarmUp(v *Verdict, s *State, now, cost, maxWait int64) (paid warmState) {
	w := p.warmAt(s, now)
	v.Z = w.wait(now)
	switch {
	case v.Z > maxWait:
		v.Y = v.Z - maxWait
	case cost > 0:
		v.Allowed, v.Wait = true, v.Z
		paid = p.pay(w, now, cost)
		v.Z = paid.wait(now)
	default:
		v.Allowed = true
		if v.Z == 0 {
			v.X = 1
		}
	}
	return paid
}

// decideWarmUp is [DecideTo] without working out the price twice.
func (p *Spec) decideWarmUp(v *Verdict, s *State, now, cost, maxWait int64) (changed bool) {
	paid := p.checkWarmUp(v, s, now, cost, maxWait)
	if !v.Allowed {
		return p.cutWarmUp(s, now)
	}
	p.putWarmUp(s, now, paid)
	return true
}

func (p *Spec) spendWarmUp(s *State, now, cost int64) {
	p.putWarmUp(s, now, p.pay(p.warmAt(s, now), now, cost))
}

// refundWarmUp gives back the time that is still owed for the newest cost.
func (p *Spec) refundWarmUp(s *State, now, cost int64) {
	w := p.warmAt(s, now)
	p.giveBackWarm(s, now, w, cost, w.owed(now))
}

// owed returns the time until the next request may go.
func (w warmState) owed(now int64) float64 { return float64(w.next-now) + w.frac }

// lastPrice returns the time that the newest cost took, as fresh permits if none
// are stored, else as stored ones, and how many of those it took.
func (p *Spec) lastPrice(w warmState, cost int64) (time, permits float64) {
	stored := p.stored(w.warmth)
	if stored <= 0 {
		return float64(float64(cost) * p.warm.stable), 0
	}
	permits = min(float64(cost), p.warm.max-stored)
	return p.storedTime(stored+permits, permits), permits
}

// giveBackWarm gives back the time of the newest cost, at most a given one.
// Stored permits that come back cool the limiter again.
func (p *Spec) giveBackWarm(s *State, now int64, w warmState, cost int64, most float64) {
	owed := w.owed(now)
	if most = min(most, owed); most <= 0 {
		return
	}
	time, permits := p.lastPrice(w, cost)
	if permits > 0 {
		share := 1.0
		if time > most {
			share = most / time
		}
		w.warmth = max(0, w.warmth-float64(float64(permits*p.warm.cool)*share))
	}
	if rest := owed - min(time, most); rest > 0 {
		whole := math.Floor(rest)
		w.next, w.frac = now+int64(whole), rest-whole
	} else {
		w.next, w.frac = now, 0
	}
	p.putWarmUp(s, now, w)
}

func (p *Spec) cutWarmUp(s *State, now int64) bool {
	if len(s.More) != warmWords || s.More[warmLast] <= now {
		return false
	}
	p.putWarmUp(s, now, p.warmAt(s, now))
	return true
}

func (p *Spec) putWarmUp(s *State, now int64, w warmState) {
	if len(s.More) != warmWords {
		s.More = make([]int64, warmWords)
	}
	s.More[warmNext], s.More[warmFrac] = w.next, bitsOf(w.frac)
	s.More[warmth], s.More[warmLast] = bitsOf(w.warmth), now
	s.T = w.next + int64(w.warmth) + 2
}

func floatOf(w int64) float64 { return math.Float64frombits(uint64(w)) }
func bitsOf(f float64) int64  { return int64(math.Float64bits(f)) }
