package algotest

import (
	"math/rand/v2"

	"github.com/sluice-limiter/sluice/algo"
)

// Stream draws the requests of one key: bursts in one instant, requests about as
// fast as the limit, idle gaps; costs from 0 to above what the limit admits.
type Stream struct {
	Rand *rand.Rand
	Now  int64 // µs
	def  algo.Spec
	most int64
}

// NewStream starts a stream for a definition, at a random instant.
func NewStream(r *rand.Rand, def algo.Spec) *Stream {
	now := r.Int64N(2_000_000_000_000_000)
	if r.IntN(8) == 0 {
		now = r.Int64N(3)
	}
	if b := def.Bounds; b != nil {
		now = max(0, b[0]+r.Int64N(b[len(b)-1]-b[0]+def.Period)-def.Period/2)
	}
	return &Stream{Rand: r, Now: now, def: def, most: NewOracle(def).Most()}
}

// latest is where streams stop moving: everything stays below 2⁵³.
const latest = 8_000_000_000_000_000

// Step moves the clock on and returns the instant.
func (s *Stream) Step() int64 {
	r, p := s.Rand, &s.def
	period, count := p.Period, max(1, p.Count)
	if p.Kind == algo.SlidingLog {
		w := Pick(r, p.Windows)
		period, count = w.Period, w.Count
	}
	gap := int64(0)
	switch k := r.IntN(100); {
	case k < 35:
	case k < 50:
		gap = 1 + r.Int64N(3)
	case k < 70:
		gap = r.Int64N(2*(period/count) + 2)
	case k < 85:
		gap = r.Int64N(period/max(1, p.Sub) + 2)
	case k < 95:
		gap = r.Int64N(2*period + 2)
	default:
		gap = r.Int64N(3*period*(1+min(p.Burst/count, 20)) + p.Warm + 2)
	}
	if s.Now+gap < latest {
		s.Now += gap
	}
	return s.Now
}

// Cost draws a cost; 0 is a peek.
func (s *Stream) Cost() int64 {
	r := s.Rand
	most := s.most
	if s.def.Kind == algo.WarmUp {
		most = 1000
	}
	switch k := r.IntN(100); {
	case k < 12:
		return 0
	case k < 50:
		return 1
	case k < 70:
		return LogUniform(r, most)
	case k < 85:
		return 1 + r.Int64N(most)
	case k < 93:
		return most
	}
	return min(most+1+r.Int64N(3), algo.MaxCount)
}

// Patience draws a maximum wait in µs; half of the time nobody waits.
func (s *Stream) Patience() int64 {
	switch k := s.Rand.IntN(100); {
	case k < 50:
		return 0
	case k < 90:
		return LogUniform(s.Rand, min(algo.MaxAhead, 2*max(s.def.Period, 1)))
	case k < 95:
		return algo.MaxAhead
	}
	return 1<<63 - 1
}
