package recommend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
)

// What is needed for a recommendation.
const (
	MinKeys = 1000
	MinDays = 2
)

// quiet is how much may be missing of the days, as before the first request of the first
// and after the last one of the last.
const quiet = int64(time.Hour / time.Microsecond)

// fitShare is how much of the time limits are fitted to; the rest is for the check.
const fitShare = 0.7

// DefaultTarget is how much may be refused of those who should not be.
var DefaultTarget = Rates{Requests: 0.0001, Keys: 0.001}

// Options set up Run. The zero value is ready to use.
type Options struct {
	Algorithms []sluice.Algorithm // empty means all of Algorithms
	Period     time.Duration      // per which limits count; 0 means a minute
	Target     Rates              // 0 means that of DefaultTarget
	Labels     Labels
	Seed       uint64 // of the drawings for bounds
}

// ThinError means that there is too little data to recommend anything.
type ThinError struct{ Reason string }

// Error implements error.
func (e *ThinError) Error() string { return "not enough data for a recommendation: " + e.Reason }

// Run recommends limits. The error is a *ThinError if there is too little traffic. When the
// context ends so does the search, with its error.
func Run(ctx context.Context, t *Traffic, o Options) (*Report, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if len(t.keys) == 0 {
		return nil, &ThinError{fmt.Sprintf("no request has the key %v", t.rule.Key)}
	}
	from, to := t.span()
	run := newRunner(ctx, t, from, to, o)
	whole := t.cut(from, to+1, o.Period)
	run.labels.label(whole)
	if err := enough(whole); err != nil {
		return nil, err
	}
	r := &Report{
		Key: t.rule.Key, Rule: t.rule.Name, Match: t.rule.Match, Skip: t.rule.Skip, Missing: t.rule.Missing, Cost: t.rule.Cost, Period: replay.Seconds(o.Period), Seed: o.Seed, Target: o.Target,
		From: instant(from), Split: instant(run.check.part.from), To: instant(to), Days: float64(to-from) / float64(day),
		Unmatched: t.unmatched, Keys: int64(len(t.keys)), Requests: int64(len(t.requests)),
	}
	r.Labels = tellLabels(whole, run.labels)
	for _, a := range []sluice.Algorithm{sluice.LeakyBucket, sluice.WarmUp} {
		r.Without = append(r.Without, Without{a, without[a]})
	}
	for i, a := range o.Algorithms {
		fit, err := run.recommend(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("recommend: %s, after %d of %d algorithms: %w", a, i, len(o.Algorithms), err)
		}
		r.Fits = append(r.Fits, fit)
	}
	if 2*r.Fits[0].Held.Keys < r.Labels.Group { // it is others who decide the limit
		r.Labels.Group, r.Labels.Apart = 0, 0
	}
	return r, nil
}

func (o *Options) fill() error {
	if len(o.Algorithms) == 0 {
		o.Algorithms = Algorithms
	}
	for _, a := range o.Algorithms {
		if err := checkAlgorithm(a); err != nil {
			return err
		}
	}
	o.Period = cmp.Or(o.Period, time.Minute)
	o.Target.Requests = cmp.Or(o.Target.Requests, DefaultTarget.Requests)
	o.Target.Keys = cmp.Or(o.Target.Keys, DefaultTarget.Keys)
	switch {
	case o.Period < time.Second || o.Period > 24*time.Hour:
		return fmt.Errorf("recommend: a period of %v: use one from 1s to 24h", o.Period)
	case !(o.Target.Requests > 0 && o.Target.Requests < 1 && o.Target.Keys > 0 && o.Target.Keys < 1):
		return fmt.Errorf("recommend: a target of %g of requests and %g of keys: both are shares above 0 and below 1", o.Target.Requests, o.Target.Keys)
	}
	return nil
}

// enough tells what is missing.
func enough(whole *part) error {
	counted, _ := whole.counted()
	if n := len(counted); n < MinKeys {
		return &ThinError{fmt.Sprintf("%d keys that count, and %d are needed: read a longer log, or take a coarser key", n, MinKeys)}
	}
	if whole.to-whole.from < MinDays*day-quiet {
		return &ThinError{fmt.Sprintf("it covers %v, and %d days are needed: people behave otherwise at night and on other days", time.Duration(whole.to-whole.from)*time.Microsecond/time.Second*time.Second, MinDays)}
	}
	return nil
}

// runner is a recommendation that is being made.
type runner struct {
	opts       Options
	labels     *labeller
	fit, check *fitter // check has no bounds: it is what bounds are held against
}

// newRunner cuts the time in two, and labels both parts by what the first shows.
func newRunner(ctx context.Context, t *Traffic, from, to int64, o Options) *runner {
	middle := from + int64(fitShare*float64(to-from))
	fit, check := t.cut(from, middle, o.Period), t.cut(middle, to+1, o.Period)
	r := &runner{opts: o, labels: fitLabels(fit, o.Labels)}
	r.labels.label(fit)
	r.labels.label(check)
	r.fit, r.check = newFitter(fit, o.Target, o.Period), newFitter(check, o.Target, o.Period)
	r.fit.draw = newResampling(ctx, fit, r.fit.counted, o.Seed)
	return r
}

// recommend fits one algorithm, checks what comes out, and shows what else there is.
func (r *runner) recommend(ctx context.Context, a sluice.Algorithm) (Fit, error) {
	f, err := r.fitted(ctx, a)
	if err == nil {
		f.Front, err = r.fit.front(ctx, f.Limit)
	}
	if err == nil {
		f.Held, err = r.fit.held(ctx, f.Limit)
	}
	return f, err
}

// fitted fits one algorithm, and checks what comes out.
func (r *runner) fitted(ctx context.Context, a sluice.Algorithm) (Fit, error) {
	found, err := r.fit.fit(ctx, a)
	if err != nil {
		return Fit{}, err
	}
	f := Fit{Algorithm: a, Limit: found.limit, Most: found.most}
	var good judged
	if f.Fitted, good, err = r.fit.outcome(ctx, found.limit); err != nil {
		return f, err
	}
	if f.Bound, err = r.fit.bound(ctx, found.limit, &good); err != nil {
		return f, err
	}
	if f.Checked, _, err = r.check.outcome(ctx, found.limit); err != nil {
		return f, err
	}
	rates := f.Checked.Rates
	f.Inside = rates.Requests <= f.Bound.Requests && rates.Keys <= f.Bound.Keys
	f.Promised = f.Bound.Requests <= r.opts.Target.Requests && f.Bound.Keys <= r.opts.Target.Keys
	smallest, err := r.check.fit(ctx, a)
	if err != nil {
		return f, err
	}
	f.Smallest, f.Ratio = smallest.limit, float64(found.most)/float64(smallest.most)
	return f, nil
}

// outcome tells what a limit does in a part, and what it does to those who count.
func (f *fitter) outcome(ctx context.Context, l sluice.Limit) (o Outcome, good judged, err error) {
	if good, err = f.part.judge(ctx, l, f.counted); err != nil {
		return o, good, err
	}
	bad, err := f.part.judge(ctx, l, f.uncounted)
	if err != nil {
		return o, good, err
	}
	o = Outcome{
		Requests: f.requests, Denied: good.denied, Keys: int64(len(f.counted)), KeysDenied: int64(len(good.touched)), Rates: f.rates(&good),
		BadKeys: int64(len(f.uncounted)), BadKeysDenied: int64(len(bad.touched)), BadDenied: bad.denied,
	}
	_, o.BadRequests = f.part.uncounted()
	return o, good, nil
}

// frontSteps are the sizes that the front shows, as shares of what is recommended.
var frontSteps = []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2}

// front tells what limits of the same shape refuse. Those that refuse no less than a
// smaller one are left out: nobody would take them.
func (f *fitter) front(ctx context.Context, l sluice.Limit) ([]Point, error) {
	var points []Point
	for _, step := range frontSteps {
		limit := l
		if step != 1 {
			limit = scaled(l, step)
		}
		o, good, err := f.outcome(ctx, limit)
		if err != nil {
			return nil, err
		}
		p := Point{Limit: limit, Most: f.rounded(limit).most, Rates: o.Rates, BadDenied: share(o.BadDenied, o.BadRequests), Recommended: step == 1}
		if n := len(points); n > 0 && !p.Recommended && p.Rates.Requests >= points[n-1].Rates.Requests && p.Rates.Keys >= points[n-1].Rates.Keys {
			continue
		}
		if p.Bound, err = f.bound(ctx, limit, &good); err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// held tells who holds a limit up.
func (f *fitter) held(ctx context.Context, l sluice.Limit) (Held, error) {
	h := Held{Half: scaled(l, 0.5)}
	j, err := f.part.judge(ctx, h.Half, f.counted)
	h.Keys = int64(len(j.touched))
	h.Top = f.part.busiest(j.touched, heldListed)
	return h, err
}

// tellLabels lists who was not counted, busiest first.
func tellLabels(p *part, l *labeller) (t LabelReport) {
	t.Far = l.tails[0].far
	spans, requests := p.uncounted()
	t.Keys, t.Requests = int64(len(spans)), requests
	t.Top = p.busiest(spans, listed)
	t.Group, t.Apart = int64(l.large.size), l.large.above
	return t
}

// How many keys are listed that do not count, and that hold a limit up.
const (
	listed     = 10
	heldListed = 5
)

// busiest describes the busiest of some keys.
func (p *part) busiest(spans []int, most int) (top []Labelled) {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b int) int { return cmp.Compare(p.spans[b].peak(), p.spans[a].peak()) })
	for _, i := range spans[:min(len(spans), most)] {
		s := &p.spans[i]
		k := &p.traffic.keys[s.key]
		top = append(top, Labelled{Key: k.name, Requests: int64(len(s.requests)), Peak: s.peak(), Why: s.why, Agent: k.agent})
	}
	return top
}
