package algo

import "errors"

// Kind is an algorithm.
type Kind uint8

// The algorithms. IntervalBucket is a token bucket that refills in steps;
// WeightedWindow is a sliding window of two halves of which the older one is
// weighted by its remaining overlap. Ban denies all, Unlimited allows all.
// Concurrency counts who is in flight, not how often: see [Permits].
const (
	Unlimited Kind = iota + 1
	Ban
	TokenBucket
	IntervalBucket
	LeakyBucket
	WarmUp
	FixedWindow
	SlidingWindow
	WeightedWindow
	SlidingLog
	Concurrency
)

// Bounds of what a spec may say. Within them no arithmetic overflows, and all
// integers stay below 2⁵³, so that a mirror in doubles is exact too.
const (
	MaxCount = 1_000_000_000_000_000       // largest count, burst or cost
	MaxTotal = 1 << 52                     // where sums with debt stop growing
	MaxSpan  = 100 * 366 * 24 * 3600 * 1e6 // longest period or recovery: 100 years in µs
	MaxAhead = 366 * 24 * 3600 * 1e6       // longest wait or debt: a year in µs
	MaxRate  = 1000                        // largest count per µs: 10⁹ per second
	MaxSub   = 1000                        // most sub-windows
	MaxLog   = 100_000                     // most entries in a log, unless raised
)

// Window is one window of a sliding log.
type Window struct {
	Count  int64
	Period int64 // µs
}

// Spec is a limit, ready to decide. Fill the exported fields and call
// [Compile]; fields that the algorithm does not use are ignored.
type Spec struct {
	Kind     Kind
	Count    int64    // how much per Period
	Period   int64    // µs
	Burst    int64    // capacity of a bucket; for leaky_bucket the queue
	MaxWait  int64    // longest wait or debt that the limit allows, µs; 0 means MaxAhead
	Sub      int64    // sliding_window: number of sub-windows; must divide Period
	FirstHit bool     // fixed_window: the window starts at the key's first request
	Bounds   []int64  // fixed_window: calendar boundaries, ascending, instead of multiples of Period
	Windows  []Window // sliding_log: all windows of the log
	LogMax   int64    // sliding_log: most entries, 0 means MaxLog
	Warm     int64    // warm_up: the warm-up period, µs
	Cold     float64  // warm_up: how many times longer a cold request takes than a warm one
	Ordinal  int64    // tells limits of the same shape on one key apart

	most       int64  // largest admissible cost
	n, per     int64  // the rate, reduced: n per per µs
	capQ, capR int64  // the capacity in time: capQ + capR/n µs
	oneQ, oneR int64  // the price of cost 1 in time
	unit       uint64 // n, if every state fits into a word (see word.go)
	capW       int64  // the capacity in n-ths of a µs
	aheadW     int64  // MaxWait in n-ths of a µs
	steps      int64  // interval: steps from empty to full
	size       int64  // sliding_window: of a sub-window
	longest    int64  // sliding_log: longest period
	span       int64  // see spanOf
	warm       warmSpec
	shape      uint64
}

// Errors of [Compile].
var (
	ErrKind   = errors.New("algo: unknown algorithm")
	ErrCount  = errors.New("algo: count out of range")
	ErrPeriod = errors.New("algo: period out of range")
	ErrRate   = errors.New("algo: rate above 1e9 per second")
	ErrBurst  = errors.New("algo: burst out of range")
	ErrSlow   = errors.New("algo: full recovery takes more than 100 years")
	ErrWait   = errors.New("algo: maximum wait out of range")
	ErrSub    = errors.New("algo: sub-windows must be 1 to 1000 and divide the period")
	ErrLog    = errors.New("algo: log too long")
	ErrWarm   = errors.New("algo: warm-up period or cold factor out of range")
	ErrBounds = errors.New("algo: calendar boundaries must be at least two and ascend")
)

// Compile checks a spec and returns a copy that is ready to decide.
func Compile(p Spec) (*Spec, error) {
	if p.Kind < Unlimited || p.Kind > Concurrency {
		return nil, ErrKind
	}
	if p.MaxWait < 0 || p.MaxWait > MaxAhead {
		return nil, ErrWait
	}
	if p.MaxWait == 0 {
		p.MaxWait = MaxAhead
	}
	var err error
	switch p.Kind {
	case Unlimited:
		p.most = MaxCount
	case Ban:
	case Concurrency:
		err = p.compileConcurrency()
	case SlidingLog:
		err = p.compileLog()
	default:
		if err = p.checkRate(); err == nil {
			err = p.compileKind()
		}
	}
	if err != nil {
		return nil, err
	}
	p.span = p.spanOf()
	p.shape = p.hashShape()
	return &p, nil
}

// checkRate checks count and period, and reduces the rate.
func (p *Spec) checkRate() error {
	if p.Count < 1 || p.Count > MaxCount {
		return ErrCount
	}
	if p.Period < 1 || p.Period > MaxSpan {
		return ErrPeriod
	}
	g := gcd(p.Count, p.Period)
	p.n, p.per = p.Count/g, p.Period/g
	p.most = p.Count
	return nil
}

func (p *Spec) compileKind() error {
	switch p.Kind {
	case TokenBucket:
		if err := p.compileBucket(p.Burst); err != nil {
			return err
		}
		p.compileWord()
	case LeakyBucket:
		return p.compileBucket(p.Burst + 1) // one at the outlet, the rest in the queue
	case IntervalBucket:
		return p.compileInterval()
	case WarmUp:
		return p.compileWarmUp()
	case SlidingWindow:
		if p.Sub < 1 || p.Sub > MaxSub || p.Period%p.Sub != 0 {
			return ErrSub
		}
		p.size = p.Period / p.Sub
	case FixedWindow:
		return p.checkBounds()
	}
	return nil
}

func (p *Spec) checkBounds() error {
	if p.Bounds == nil {
		return nil
	}
	if len(p.Bounds) < 2 {
		return ErrBounds
	}
	for i := 1; i < len(p.Bounds); i++ {
		if p.Bounds[i] <= p.Bounds[i-1] {
			return ErrBounds
		}
	}
	return nil
}

// checkSpeed refuses rates at which a microsecond is too coarse.
func (p *Spec) checkSpeed() error {
	if p.Count/MaxRate > p.Period || p.Count/MaxRate == p.Period && p.Count%MaxRate > 0 {
		return ErrRate
	}
	return nil
}

// Wall reports whether the algorithm's windows are aligned to the time of day,
// so that it has to be asked with wall-clock instants.
func (p *Spec) Wall() bool {
	switch p.Kind {
	case FixedWindow:
		return !p.FirstHit
	case SlidingWindow, WeightedWindow:
		return true
	}
	return false
}

// Shape identifies the state that a spec works on: specs of equal shape share
// it, so that a changed amount goes on with what was spent, and a new algorithm
// or period starts fresh.
func (p *Spec) Shape() uint64 { return p.shape }

func (p *Spec) hashShape() uint64 {
	period, first := p.Period, int64(0)
	if p.Kind == SlidingLog {
		period = p.longest
	}
	if p.FirstHit {
		first = 1
	}
	if p.Bounds != nil {
		first = 2
	}
	sub := p.Sub
	if p.Kind != SlidingWindow {
		sub = 0
	}
	h := uint64(14695981039346656037)
	for _, w := range [...]int64{int64(p.Kind), period, sub, first, p.Ordinal} {
		h = (h ^ uint64(w)) * 1099511628211
		h ^= h >> 29
	}
	return h
}
