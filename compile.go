package sluice

import (
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Plan is one or several limits made ready for a store. [Keyed] has one inside;
// it is for those who ask a store themselves, with checks of several keys at once.
type Plan struct {
	limits []Limit
	specs  []*algo.Spec
	origin [][]int // for each spec the limits that it stands for: a log serves several
	books  bool    // every spec books the future
	// Calendars: the plan holds for from ≤ now < until, and is compiled again
	// outside of that. Both are 0 without a calendar.
	from, until int64
}

// NewPlans makes a plan of every group of limits. The groups may be asked about
// the same key without sharing a state: no limit of one counts for another. now is
// the instant for which calendars are laid out. The error is a *[LimitError].
//
// Limits of [InFlight] have to be in groups of their own: they are not spent, but taken
// with store.Acquire.
func NewPlans(now time.Time, groups ...[]Limit) ([]*Plan, error) {
	plans := make([]*Plan, len(groups))
	seen := map[uint64]int64{}
	for i, limits := range groups {
		p, err := compileBeside(seen, limits, now.UnixMicro())
		if err != nil {
			return nil, err
		}
		plans[i] = p
	}
	return plans, nil
}

// Limits returns the limits, with their defaults filled in.
func (p *Plan) Limits() []Limit { return append([]Limit(nil), p.limits...) }

// Specs returns what to ask a store about, one check for each. There may be fewer
// than limits: one log serves several.
func (p *Plan) Specs() []*algo.Spec { return p.specs }

// Books reports whether a request that may wait is told by the store until when.
// Else a store only says when to ask again.
func (p *Plan) Books() bool { return p.books }

// Until returns from when on the plan has to be made anew for its calendars, or
// the zero time if it has none.
func (p *Plan) Until() time.Time {
	if p.until == 0 {
		return time.Time{}
	}
	return time.UnixMicro(p.until)
}

// Decide sums up a store's answers to checks of all specs, in their order. All of d is
// written, where it lies: it is big.
func (p *Plan) Decide(checks []store.Check, d *Decision) {
	first := &checks[0]
	d.Allowed, d.Degraded, d.Blind, d.Reason, d.index = false, first.Degraded, first.Blind, 0, 0
	d.plan, d.spec, d.verdict = p, p.specs[0], first.Verdict
	d.conclude()
	if len(checks) > 1 {
		p.sum(d, checks)
	}
	if d.Blind && d.Reason == Limited {
		d.Reason = Unavailable
	}
}

// stale reports whether the plan has to be laid out anew for now.
func (p *Plan) stale(now int64) bool { return p.until != 0 && (now < p.from || now >= p.until) }

// compile checks limits and makes a plan of them. All sliding logs become one
// log with several windows. now is the instant for which calendars are laid out.
func compile(limits []Limit, now int64) (*Plan, error) {
	for _, l := range limits {
		if l.Algorithm == InFlight {
			return nil, l.checkAlgorithm()
		}
	}
	return compileBeside(map[uint64]int64{}, limits, now)
}

// compileBeside is compile for limits whose states lie beside others: seen says how
// many there are of each shape.
func compileBeside(seen map[uint64]int64, limits []Limit, now int64) (*Plan, error) {
	p := &Plan{books: true}
	log := -1
	for i, l := range limits {
		l = l.filled()
		p.limits = append(p.limits, l)
		check := l.check
		if l.Algorithm == InFlight {
			check = l.checkInFlight
		}
		if err := check(); err != nil {
			return nil, err
		}
		spec := l.spec()
		if l.Calendar != "" && l.Count > 0 {
			spec.Bounds = l.bounds(now)
			p.layOut(spec.Bounds)
		}
		if _, err := algo.Compile(spec); err != nil {
			return nil, l.explain(err)
		}
		if spec.Kind == algo.SlidingLog && log >= 0 {
			p.addWindow(log, i, spec)
			continue
		}
		if spec.Kind == algo.SlidingLog {
			log = len(p.specs)
		}
		p.specs = append(p.specs, &spec)
		p.origin = append(p.origin, []int{i})
	}
	return p, p.finish(seen)
}

// addWindow lets the log that is there serve another limit.
func (p *Plan) addWindow(log, i int, more algo.Spec) {
	spec := p.specs[log]
	spec.Windows = append(spec.Windows, more.Windows...)
	spec.LogMax = max(spec.LogMax, more.LogMax)
	p.origin[log] = append(p.origin[log], i)
}

// finish compiles the specs, and numbers those that would share a state.
func (p *Plan) finish(seen map[uint64]int64) error {
	for i, raw := range p.specs {
		spec, err := algo.Compile(*raw)
		if err != nil {
			return p.limits[p.origin[i][0]].explain(err)
		}
		shape := spec.Shape()
		if raw.Ordinal = seen[shape]; raw.Ordinal > 0 {
			spec, _ = algo.Compile(*raw) // was fine a line ago
		}
		seen[shape]++
		p.specs[i] = spec
		p.books = p.books && (spec.Books() || spec.Kind == algo.Unlimited || spec.Kind == algo.Ban)
	}
	return nil
}

// layOut narrows the time for which the plan holds to that of a calendar: from
// its first window to the middle of those that it knows.
func (p *Plan) layOut(bounds []int64) {
	from, until := bounds[0], bounds[len(bounds)/2]
	if p.until != 0 {
		from, until = max(from, p.from), min(until, p.until)
	}
	p.from, p.until = from, until
}

// never reports whether a limit that does not book can never admit cost.
func (p *Plan) never(cost int64) bool {
	for _, spec := range p.specs {
		if !p.books && algo.Check(spec, &algo.State{}, 0, cost, 0).Never {
			return true
		}
	}
	return false
}

// spec turns a filled limit into a spec that algo can compile.
func (l Limit) spec() algo.Spec {
	s := algo.Spec{
		Count:   l.Count,
		Period:  l.Period.Microseconds(),
		Burst:   l.Burst,
		MaxWait: l.MaxWait.Microseconds(),
	}
	switch l.Algorithm {
	case NoLimit:
		s.Kind = algo.Unlimited
	case TokenBucket:
		s.Kind = algo.TokenBucket
		if l.Refill == ByInterval {
			s.Kind = algo.IntervalBucket
		}
	case LeakyBucket:
		s.Kind = algo.LeakyBucket
	case WarmUp:
		s.Kind = algo.WarmUp
		s.Warm, s.Cold = l.WarmUp.Microseconds(), l.ColdFactor
	case FixedWindow:
		s.Kind = algo.FixedWindow
		s.FirstHit = l.Start == FirstHit
		if l.Calendar != "" {
			s.Period = l.Calendar.nominal()
		}
	case SlidingWindow:
		s.Kind, s.Sub = algo.SlidingWindow, int64(l.SubWindows)
		if l.Weighted {
			s.Kind = algo.WeightedWindow
		}
	case SlidingLog:
		s.Kind = algo.SlidingLog
		s.Windows = []algo.Window{{Count: l.Count, Period: s.Period}}
		s.LogMax = l.MaxLog
	case InFlight:
		s.Kind = algo.Concurrency
	}
	if l.Count == 0 && l.Algorithm != NoLimit {
		s.Kind = algo.Ban
	}
	return s
}

// nominal is a length by which calendar windows are told apart; 0 if it is none.
func (c Calendar) nominal() int64 {
	days := map[Calendar]int64{Day: 1, Week: 7, Month: 31, Year: 366}[c]
	return days * (24 * time.Hour).Microseconds()
}

// calendarAhead is how many windows of the calendar a plan knows in advance.
const calendarAhead = 64

// bounds lays out the windows around now: the one before it, its own, and those
// that come. A day that a zone left out is none.
func (l Limit) bounds(now int64) []int64 {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil { // was checked
		zone = time.UTC
	}
	today := time.UnixMicro(now).In(zone)
	var bounds []int64
	for i := -2; i <= calendarAhead; i++ {
		start := l.start(today, i)
		if us := start.UnixMicro(); len(bounds) == 0 || us > bounds[len(bounds)-1] {
			bounds = append(bounds, us)
		}
	}
	return bounds
}

// start returns when the window begins that lies n windows after that of today.
func (l Limit) start(today time.Time, n int) time.Time {
	year, month, day := today.Date()
	switch zone := today.Location(); l.Calendar {
	case Week:
		monday := day - (int(today.Weekday())+6)%7
		return dayStart(year, month, monday+7*n, zone)
	case Month:
		return monthStart(year, month+time.Month(n), l.AnchorDay, zone)
	case Year:
		return dayStart(year+n, time.January, 1, zone)
	default:
		return dayStart(year, month, day+n, zone)
	}
}

// dayStart returns the first instant of a day, which is not midnight where the
// clock is set forward at that hour.
func dayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	start := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if start.Day() != time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() {
		_, start = start.ZoneBounds()
	}
	return start
}

// monthStart returns the instant at which the month that is anchored at day
// begins; a month without that day begins on its last one.
func monthStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return dayStart(year, month, min(day, last), zone)
}
