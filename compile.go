package sluice

import (
	"time"

	"github.com/sluice-limiter/sluice/algo"
)

// plan is one or several limits, ready to decide.
type plan struct {
	limits []Limit
	specs  []*algo.Spec
	origin [][]int // for each spec the limits that it stands for: a log serves several
	books  bool    // every spec books the future
	until  int64   // calendars: compile again from this instant on; 0 means never
}

// compile checks limits and makes a plan of them. All sliding logs become one
// log with several windows. now is the instant for which calendars are laid out.
func compile(limits []Limit, now int64) (*plan, error) {
	p := &plan{books: true}
	log := -1
	for i, l := range limits {
		l = l.filled()
		p.limits = append(p.limits, l)
		if err := l.check(); err != nil {
			return nil, err
		}
		if l.Algorithm == SlidingLog && l.Count > 0 && log >= 0 {
			p.addWindow(log, i, l)
			continue
		}
		if l.Algorithm == SlidingLog && l.Count > 0 {
			log = len(p.specs)
		}
		spec := l.spec()
		if l.Calendar != "" && l.Count > 0 {
			spec.Bounds = l.bounds(now)
			p.until = soonest(p.until, spec.Bounds[len(spec.Bounds)/2])
		}
		p.specs = append(p.specs, &spec)
		p.origin = append(p.origin, []int{i})
	}
	return p, p.finish()
}

// addWindow lets the log that is there serve another limit.
func (p *plan) addWindow(log, i int, l Limit) {
	spec := p.specs[log]
	spec.Windows = append(spec.Windows, l.spec().Windows...)
	spec.LogMax = max(spec.LogMax, l.MaxLog)
	p.origin[log] = append(p.origin[log], i)
}

// finish compiles the specs, and numbers those that would share a state.
func (p *plan) finish() error {
	seen := map[uint64]int64{}
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

func soonest(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
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
	}
	if l.Count == 0 && l.Algorithm != NoLimit {
		s.Kind = algo.Ban
	}
	return s
}

// nominal is a length by which calendar windows are told apart.
func (c Calendar) nominal() int64 {
	if c == Month {
		return (31 * 24 * time.Hour).Microseconds()
	}
	return (24 * time.Hour).Microseconds()
}

// calendarAhead is how many windows of the calendar a plan knows in advance.
const calendarAhead = 64

// bounds lays out the windows around now: the one before it, its own, and those
// that come.
func (l Limit) bounds(now int64) []int64 {
	zone, err := time.LoadLocation(l.Zone)
	if err != nil { // was checked
		zone = time.UTC
	}
	t := time.UnixMicro(now).In(zone)
	var bounds []int64
	for i := -2; i <= calendarAhead; i++ {
		start := time.Date(t.Year(), t.Month(), t.Day()+i, 0, 0, 0, 0, zone)
		if l.Calendar == Month {
			start = monthStart(t.Year(), int(t.Month())+i, l.AnchorDay, zone)
		}
		bounds = append(bounds, start.UnixMicro())
	}
	return bounds
}

// monthStart returns the instant at which the month that is anchored at day
// begins; a month without that day begins on its last one.
func monthStart(year, month, day int, zone *time.Location) time.Time {
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, zone).Day()
	return time.Date(year, time.Month(month), min(day, last), 0, 0, 0, 0, zone)
}
