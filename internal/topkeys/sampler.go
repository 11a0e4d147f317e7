package topkeys

import (
	"math"
	"time"
)

// Full is how many a Sampler picks in each window before it passes any over, so that
// counts of little traffic are exact.
const Full = 4096

// Sampler picks the first [Full] of each window, and then one in k: each with the same
// chance and none because of another, so that no rhythm of the requests can hide a
// key. It has one owner at a time.
type Sampler struct {
	left   int64  // how many are still passed over
	weight uint64 // how many the next one that is picked stands for
	full   int    // how many are still picked before any is passed over
	number int64  // of the window
	window int64  // in µs
	state  uint64 // of the random numbers
	k      uint64
	scale  float64 // 1 / ln(1 − 1/k)
}

// NewSampler returns a sampler that picks one in k, which is at least 2.
func NewSampler(k int, window time.Duration, seed uint64) Sampler {
	k = max(k, 2)
	return Sampler{
		weight: 1,
		full:   Full,
		window: max(window.Microseconds(), 1),
		state:  seed,
		k:      uint64(k),
		scale:  1 / math.Log1p(-1/float64(k)),
	}
}

// Due reports whether this one is picked. If so, Take has to follow.
func (s *Sampler) Due() bool {
	s.left--
	return s.left < 0
}

// Take returns how many the one that is picked at the instant now stands for.
func (s *Sampler) Take(now int64) (weight uint64) {
	weight = s.weight
	if number := now / s.window; number != s.number {
		s.number, s.full = number, Full
	}
	if s.full > 0 {
		s.full--
		s.weight, s.left = 1, 0
	} else {
		s.weight, s.left = s.k, s.gap()
	}
	return weight
}

// gap draws how many are passed over before the next: so often does a coin that shows
// heads one time in k show tails first.
func (s *Sampler) gap() int64 {
	s.state += 0x9e3779b97f4a7c15 // splitmix64
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	u := (float64(z>>11) + 1) / (1 << 53) // in (0, 1]
	return int64(math.Log(u) * s.scale)
}

// Deviation is how far a count of a sample of one in k may be from the true one: four
// standard deviations, which is exceeded less than once in 10,000 times.
func Deviation(k int, count uint64) uint64 {
	// A true count of f has the variance f·(k − 1). |count − f| ≤ 4·√(f·k), solved for f,
	// which is not known, gives this.
	n := float64(count) / float64(k)
	return uint64(math.Ceil(float64(k) * (8 + 4*math.Sqrt(n+4))))
}
