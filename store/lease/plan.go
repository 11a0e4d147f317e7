package lease

import (
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/algo"
)

const (
	enough  = 64   // tokens for which a call to the store is worth its price
	driftOf = 1000 // clocks may run apart by one part in this many
	minTurn = 1000 // µs: windows that turn sooner are not leased
)

// plan is what a limit means for leases. It never changes.
type plan struct {
	of   *algo.Spec // the caller's limit
	spec *algo.Spec // the limit by which the store decides: strict buckets have a smaller burst
	back int64      // by how much smaller

	cap     int64 // greatest batch; below 2 nothing is leased
	age     int64 // greatest age of a lease, µs
	life    int64 // how long a lease usually lives: until its age, or its window, is over
	pause   int64 // how long to wait after the store gave little
	returns bool  // unused tokens may be given back at any time
	off     string
}

// rules are the settings that all plans of a store share.
type rules struct {
	age       int64 // µs
	share     float64
	fullBurst bool
}

func (r rules) plan(of *algo.Spec) *plan {
	p := &plan{of: of, spec: of, age: r.age, life: r.age, pause: r.age / 16, returns: true}
	whole := of.Count
	switch of.Kind {
	case algo.TokenBucket:
		r.planBucket(p)
		whole = p.spec.Burst
	case algo.FixedWindow:
		if of.Bounds == nil {
			p.life = min(p.age, of.Period)
		}
	case algo.SlidingWindow:
		p.life = min(p.age, of.Period/of.Sub)
	default:
		p.off = "this algorithm is not leased"
	}
	if p.off == "" && p.life < minTurn {
		p.off = "the window turns before a lease could be used"
	}
	if p.cap = int64(r.share * float64(whole)); p.off == "" && p.cap < 2 {
		p.off = "the greatest batch would be below 2"
	}
	if p.off != "" {
		p.cap, p.spec, p.back = 0, of, 0
	}
	return p
}

// planBucket lets the bucket pay for the age of leases out of its burst. What
// is given back to a bucket could have been refilled meanwhile, so nothing is.
func (r rules) planBucket(p *plan) {
	p.returns = false
	if r.fullBurst {
		return
	}
	back := p.of.RefillIn(r.age)
	if back > p.of.Burst/2 {
		p.off = "the age of a lease would cost more than half of the burst"
		return
	}
	smaller := *p.of
	smaller.Burst -= back
	spec, err := algo.Compile(smaller)
	if err != nil {
		p.off = err.Error()
		return
	}
	p.spec, p.back = spec, back
}

func (p *plan) leased() bool { return p.cap >= 2 }

// same reports whether both plans mean the same limit, so that tokens taken
// under one may be spent under the other.
func (p *plan) same(o *plan) bool {
	a, b := p.of, o.of
	return a.Count == b.Count && a.Period == b.Period && a.Burst == b.Burst && slices.Equal(a.Bounds, b.Bounds)
}

// outward turns an answer of the store into one of the caller's limit, which
// must not promise the part of the burst that pays for leases.
func (p *plan) outward(v algo.Verdict) algo.Verdict {
	if p.back > 0 {
		v = p.of.Moved(v, p.back)
	}
	return v
}

// deadline is the instant from which on tokens must not be spent any more that
// were asked for at the instant sent and granted by v. The store's clock is only
// used as a difference, and no two clocks need to agree; that they may run apart
// a little, and count whole µs, is taken off.
func (p *plan) deadline(sent int64, v algo.Verdict) int64 {
	span := min(p.age, p.spec.TurnAfter(v))
	return sent + span - span/driftOf - 1
}

func micros(d time.Duration) int64 { return d.Microseconds() }
