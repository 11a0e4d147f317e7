package recommend

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// confidence is that of all upper bounds.
const confidence = 0.95

// Rates are shares of what is counted, from 0 to 1.
type Rates struct {
	Requests float64 `json:"requests"`
	Keys     float64 `json:"keys"`
}

// resampling draws days and keys with replacement, again and again: what a limit refuses
// comes from a few keys on a few days, and might have come from others. Requests of one
// key are not independent, so they are never drawn one by one.
type resampling struct {
	seed     uint64
	days     [][]float64 // how often each day was drawn, for each drawing
	requests []float64   // counted ones of each drawing
	keys     []float64
}

// How many drawings; fewer when there are very many keys.
const (
	mostDrawings  = 1000
	leastDrawings = 200
	drawingEffort = 1 << 27 // keys times drawings
	upperEffort   = 1 << 18 // losses times drawings
)

func newResampling(ctx context.Context, p *part, counted []int, seed uint64) *resampling {
	n := max(min(mostDrawings, drawingEffort/max(len(counted), 1)), leastDrawings)
	r := &resampling{seed: seed, days: make([][]float64, n), requests: make([]float64, n), keys: make([]float64, n)}
	source := rand.New(rand.NewPCG(seed, 0xda15))
	for i := range r.days {
		r.days[i] = make([]float64, p.days)
		for range p.days {
			r.days[i][source.IntN(p.days)]++
		}
	}
	for _, s := range counted {
		if ctx.Err() != nil {
			return r // nobody will ask it
		}
		r.add(p, s)
	}
	return r
}

// add counts a key into all drawings.
func (r *resampling) add(p *part, s int) {
	perDay := make([]float64, p.days)
	for i := range p.spans[s].requests {
		perDay[p.dayOf(p.spans[s].requests[i].at)]++
	}
	var days []int
	for d, n := range perDay {
		if n > 0 {
			days = append(days, d)
		}
	}
	for i := range r.days {
		times := r.times(i, s)
		if times == 0 {
			continue
		}
		seen := 0.0
		for _, d := range days {
			w := r.days[i][d]
			r.requests[i] += times * w * perDay[d]
			seen += w
		}
		if seen > 0 {
			r.keys[i] += times
		}
	}
}

// times returns how often a drawing drew a key: about once, as Poisson has it. It is the
// same whenever it is asked, so that nothing has to be kept.
func (r *resampling) times(drawing, span int) float64 {
	x := r.seed + uint64(drawing)*0x9e3779b97f4a7c15 + uint64(span)*0xd1b54a32d192ed03
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	u := float64((x^x>>31)>>11) / (1 << 53)
	k := 0
	for k < len(poisson) && u >= poisson[k] {
		k++
	}
	return float64(k)
}

// poisson is with what probability a key is drawn at most 0, 1, 2… times.
var poisson = func() (sums [12]float64) {
	p, sum := math.Exp(-1), 0.0
	for k := range sums {
		sum += p
		sums[k] = sum
		p /= float64(k + 1)
	}
	return sums
}()

// upper returns which rates all but one in twenty drawings stay below.
func (r *resampling) upper(j *judged) Rates {
	// Where very much is refused fewer drawings tell as much.
	drawings := min(max(upperEffort/max(len(j.losses), 1), leastDrawings), len(r.days))
	requests, keys := make([]float64, 0, drawings), make([]float64, 0, drawings)
	for i := range drawings {
		var lost, touched float64
		last, hit := -1, false
		for _, l := range j.losses {
			times, w := r.times(i, l.span), r.days[i][l.day]
			lost += times * w * float64(l.denied)
			if l.span != last {
				last, hit = l.span, false
			}
			if w > 0 && !hit {
				touched += times
				hit = true
			}
		}
		if r.keys[i] > 0 {
			requests = append(requests, lost/r.requests[i])
			keys = append(keys, touched/r.keys[i])
		}
	}
	return Rates{quantile(requests), quantile(keys)}
}

func quantile(values []float64) float64 {
	if len(values) == 0 {
		return 1
	}
	slices.Sort(values)
	return values[min(int(confidence*float64(len(values))), len(values)-1)]
}
