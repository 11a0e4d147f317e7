package recommend

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Algorithms are those that can be recommended.
var Algorithms = []sluice.Algorithm{sluice.TokenBucket, sluice.SlidingLog, sluice.SlidingWindow, sluice.FixedWindow}

// without says why the others cannot: their numbers are the service's, and no traffic of
// the past tells them.
var without = map[sluice.Algorithm]string{
	sluice.LeakyBucket: "it holds requests rather than refusing them, and lets them go as fast as what is behind it can take; sluice probe finds that",
	sluice.WarmUp:      "it spares a service that has just started, whoever asks; sluice probe finds what a warm one takes, and sluice compare shows the way there",
	sluice.InFlight:    "it counts who is in flight, and the past tells when requests came, not for how long they ran",
}

// fitter looks for limits in one part.
type fitter struct {
	part      *part
	counted   []int
	uncounted []int
	requests  int64 // counted
	target    Rates
	period    time.Duration
	draw      *resampling // nil: rates as they are, without bounds
}

func newFitter(p *part, target Rates, period time.Duration) *fitter {
	f := &fitter{part: p, target: target, period: period}
	f.counted, f.requests = p.counted()
	f.uncounted, _ = p.uncounted()
	return f
}

// rates returns what share was refused.
func (f *fitter) rates(j *judged) Rates {
	return Rates{share(j.denied, f.requests), share(int64(len(j.touched)), int64(len(f.counted)))}
}

func share(n, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(n) / float64(all)
}

// meets reports whether a limit refuses no more than the target: by its upper bound, if
// there is one.
func (f *fitter) meets(j *judged) bool {
	if len(j.touched) == 0 {
		return true // there is nothing better, even if the data do not suffice to promise it
	}
	rates := f.rates(j)
	if rates.Requests > f.target.Requests || rates.Keys > f.target.Keys {
		return false
	}
	if f.draw == nil {
		return true
	}
	if upperKeys(len(j.touched))/float64(max(len(f.counted), 1)) > f.target.Keys {
		return false
	}
	upper := f.draw.upper(j)
	return upper.Requests <= f.target.Requests && upper.Keys <= f.target.Keys
}

// family are limits of growing size.
type family func(size int64) sluice.Limit

// smallest finds the smallest size that meets the target. What a size refuses shrinks as
// it grows, and so do the keys that have to be looked at.
func (f *fitter) smallest(ctx context.Context, make family) (int64, error) {
	among, lo, hi := f.counted, int64(0), int64(1)
	for _, i := range f.counted {
		hi = max(hi, f.part.spans[i].total) // refuses nobody
	}
	try := func(size int64) (bool, error) {
		j, err := f.part.judge(ctx, make(size), among)
		if err == nil && !f.meets(&j) {
			among = j.touched
			return false, nil
		}
		return true, err
	}
	for size := int64(8); size < hi; size *= 2 { // most limits are small
		ok, err := try(size)
		if err != nil {
			return 0, err
		}
		if ok {
			hi = size
			break
		}
		lo = size
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		ok, err := try(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// fitted is a limit, with what a client that never pauses can get of it in a period: by
// that limits are ranked.
type fitted struct {
	limit sluice.Limit
	most  int64
}

// fit finds the smallest limit of an algorithm.
func (f *fitter) fit(ctx context.Context, a sluice.Algorithm) (fitted, error) {
	if a == sluice.TokenBucket {
		return f.fitBucket(ctx)
	}
	window := func(size int64) sluice.Limit {
		l := sluice.Per(size, f.period).With(a)
		if a == sluice.SlidingLog && size > defaultLog {
			l.MaxLog = size
		}
		return l
	}
	size, err := f.smallest(ctx, window)
	return f.rounded(window(round(size))), err
}

// defaultLog is how much a sliding log holds unless it is told.
const defaultLog = 100_000

// rateSteps are the rates of a bucket that are tried, as shares of what it needs if all
// has to come by its rate.
var rateSteps = []float64{1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02}

// fitBucket finds rate and burst. The slower a bucket refills the more it has to hold;
// of all pairs that meet the target that is taken which lets a flood through least.
func (f *fitter) fitBucket(ctx context.Context) (best fitted, err error) {
	log, err := f.fit(ctx, sluice.SlidingLog)
	if err != nil {
		return best, err
	}
	var tried []int64
	for _, step := range rateSteps {
		rate := round(max(int64(math.Ceil(step*float64(log.limit.Count))), 1))
		if slices.Contains(tried, rate) {
			continue
		}
		tried = append(tried, rate)
		burst, err := f.smallest(ctx, func(size int64) sluice.Limit { return sluice.Per(rate, f.period).WithBurst(size) })
		if err != nil {
			return best, err
		}
		found := f.rounded(sluice.Per(rate, f.period).WithBurst(round(burst)))
		if best.most == 0 || found.most < best.most {
			best = found
		}
	}
	return best, nil
}

// rounded returns a limit with what it lets through at most.
func (f *fitter) rounded(l sluice.Limit) fitted {
	most := l.Count
	switch l.Algorithm {
	case sluice.FixedWindow:
		most *= 2 // at the end of one window and the beginning of the next
	case "", sluice.TokenBucket:
		most += l.Burst
	}
	return fitted{l, most}
}

// round returns the next number that a person would write: two digits and zeros.
func round(n int64) int64 {
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// scaled returns a limit of the same shape and another size.
func scaled(l sluice.Limit, factor float64) sluice.Limit {
	l.Count = max(round(int64(math.Ceil(float64(l.Count)*factor))), 1)
	if l.Burst > 0 {
		l.Burst = max(round(int64(math.Ceil(float64(l.Burst)*factor))), 1)
	}
	if l.MaxLog > 0 {
		l.MaxLog = max(l.Count, defaultLog)
	}
	return l
}

// bound returns which rates are to be expected at most with a limit in the time ahead,
// from what it did.
//
// Drawing cannot bring up what never happened. So keys are expected that were not seen,
// and each of them loses as many requests as keys lose that are just above a limit.
func (f *fitter) bound(ctx context.Context, l sluice.Limit, j *judged) (Rates, error) {
	upper := f.draw.upper(j)
	each, err := f.severity(ctx, l)
	if err != nil {
		return upper, err
	}
	n := len(j.touched)
	upper.Keys = min(max(upper.Keys, upperKeys(n)/float64(max(len(f.counted), 1))), 1)
	upper.Requests = min(max(upper.Requests, upperLost(n, each, f.draw.seed)/float64(max(f.requests, 1))), 1)
	return upper, nil
}

// severity tells how much keys lose that a limit touches, or else one that is so much
// smaller that it touches some; then it is scaled up, as it would be if the tail of busy
// keys were a heavy one.
func (f *fitter) severity(ctx context.Context, l sluice.Limit) (severity, error) {
	for factor := 1.0; factor > 0.05; factor *= 0.9 {
		j, err := f.part.judge(ctx, scaled(l, factor), f.counted)
		if err != nil {
			return severity{}, err
		}
		if len(j.touched) >= severityKeys {
			return severity{len(j.touched), float64(j.denied) / factor}, nil
		}
	}
	return severity{}, nil
}

// severityKeys is how many keys have to be touched to tell how much each loses.
const severityKeys = 5

// checkAlgorithm tells why an algorithm cannot be recommended.
func checkAlgorithm(a sluice.Algorithm) error {
	if slices.Contains(Algorithms, a) {
		return nil
	}
	if why := without[a]; why != "" {
		return fmt.Errorf("recommend: traffic of the past tells no limit of %s: %s", a, why)
	}
	return fmt.Errorf("recommend: cannot recommend a limit for %q: take token_bucket, sliding_log, sliding_window or fixed_window", a)
}
