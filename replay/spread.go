package replay

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/sluice-limiter/sluice/accesslog"
)

// Spread says at which instants the requests of one second came, in a log that tells
// only the second. Their order is always that of the log.
type Spread string

// Spreads.
const (
	SpreadStart   Spread = "start"   // all at its beginning
	SpreadUniform Spread = "uniform" // at equal distances
	SpreadRandom  Spread = "random"  // at random, by a seed
)

// Spreads are all there are.
var Spreads = []Spread{SpreadStart, SpreadUniform, SpreadRandom}

// ParseSpread reads the name of a spread; "" means SpreadStart.
func ParseSpread(name string) (Spread, error) {
	switch s := Spread(name); s {
	case "":
		return SpreadStart, nil
	case SpreadStart, SpreadUniform, SpreadRandom:
		return s, nil
	}
	return "", fmt.Errorf("replay: unknown spread %q: use start, uniform or random", name)
}

// spreader gives coarse entries their instants.
type spreader struct {
	model Spread
	rand  *rand.Rand
	at    float64 // SpreadRandom: where in the second the last one came, from 0 to 1
}

func newSpreader(s Spread, seed uint64) *spreader {
	return &spreader{model: s, rand: rand.New(rand.NewPCG(seed, 0x5e_ed))}
}

// instant returns when an entry came, in µs since 1970.
func (s *spreader) instant(e *accesslog.Entry) int64 {
	if !e.Coarse || s.model == SpreadStart {
		return e.Time
	}
	if s.model == SpreadUniform {
		return e.Time + int64(e.Place)*1e6/int64(max(e.Among, 1))
	}
	return e.Time + s.random(e)
}

// random draws the next of as many instants as are left of the second, in order: the
// smallest of n that lie evenly between the last one and the end.
func (s *spreader) random(e *accesslog.Entry) int64 {
	if e.Place == 0 {
		s.at = 0
	}
	left := float64(max(e.Among-e.Place, 1))
	s.at = 1 - (1-s.at)*math.Pow(1-s.rand.Float64(), 1/left)
	return min(int64(s.at*1e6), 999_999)
}
