package sluice

import (
	"time"
)

// Algorithm names the way in which a limit counts.
type Algorithm string

// The algorithms. docs/ALGORITHMS.md shows with pictures which one to take.
const (
	TokenBucket   Algorithm = "token_bucket"   // the default: a steady rate with bursts up to Burst
	LeakyBucket   Algorithm = "leaky_bucket"   // one at a time at a constant rate, the others queue
	WarmUp        Algorithm = "warm_up"        // a rate that climbs from cold to full
	FixedWindow   Algorithm = "fixed_window"   // at most Count per window of the clock or the calendar
	SlidingWindow Algorithm = "sliding_window" // at most Count in the trailing window, counted in sub-windows
	SlidingLog    Algorithm = "sliding_log"    // at most Count in any trailing window, exactly
	NoLimit       Algorithm = "unlimited"      // everything passes

	// InFlight is no rate: at most Count at the same time. Only rules take it; elsewhere
	// there are [Concurrency] and [KeyedConcurrency].
	InFlight Algorithm = "concurrency"
)

// Refill says how a token bucket gets its tokens back.
type Refill string

// Ways to refill.
const (
	Smoothly   Refill = ""         // one by one, as time passes
	ByInterval Refill = "interval" // Count at once, every Period
)

// Start says where a fixed window begins.
type Start string

// Where windows begin.
const (
	Aligned  Start = ""          // at multiples of Period
	FirstHit Start = "first_hit" // at the key's first request
)

// Calendar is a window that has no fixed length.
type Calendar string

// Calendar windows.
const (
	Day   Calendar = "day"
	Week  Calendar = "week" // from Monday on
	Month Calendar = "month"
	Year  Calendar = "year"
)

// Limit says how much is allowed. Make one with [PerSecond], [Per] or [Parse]
// and refine it with the With methods, or fill the fields. It is plain data: it
// can be compared, copied and stored, and reads and writes as text such as
// "100/s burst=200" (see [Parse]).
type Limit struct {
	Algorithm Algorithm     // empty means TokenBucket
	Count     int64         // how much per Period; 0 bans
	Period    time.Duration // whole microseconds
	Burst     int64         // token_bucket: capacity, leaky_bucket: queue; 0 means Count
	MaxWait   time.Duration // buckets and warm_up: nobody waits or owes for longer; whole microseconds; 0 means no maximum

	Refill     Refill        // token_bucket
	Start      Start         // fixed_window
	Calendar   Calendar      // fixed_window: instead of Period
	Zone       string        // Calendar: time zone, such as "Europe/Berlin"; empty means UTC
	AnchorDay  int           // Calendar Month: the day on which a month begins; 0 means 1
	SubWindows int           // sliding_window: 0 means 10, or the next lower number that divides Period
	Weighted   bool          // sliding_window: two windows, the older one weighted by its overlap
	MaxLog     int64         // sliding_log: raises the bound of 100,000 on Count
	WarmUp     time.Duration // warm_up: how long it takes to get warm
	ColdFactor float64       // warm_up: how many times slower cold is; 0 means 3
}

// Per returns a limit of count per d, by default a token bucket that holds
// count.
func Per(count int64, d time.Duration) Limit { return Limit{Count: count, Period: d} }

// PerSecond returns a limit of count per second.
func PerSecond(count int64) Limit { return Per(count, time.Second) }

// PerMinute returns a limit of count per minute.
func PerMinute(count int64) Limit { return Per(count, time.Minute) }

// PerHour returns a limit of count per hour.
func PerHour(count int64) Limit { return Per(count, time.Hour) }

// PerDay returns a limit of count per 24 hours. For a day of the calendar see
// [Limit.InZone].
func PerDay(count int64) Limit { return Per(count, 24*time.Hour) }

// PerMonth returns a limit of count per month of the calendar, in UTC.
func PerMonth(count int64) Limit {
	return Limit{Algorithm: FixedWindow, Count: count, Calendar: Month}
}

// Every returns a limit of one per d.
func Every(d time.Duration) Limit { return Per(1, d) }

// Unlimited is a limit that lets everything pass.
var Unlimited = Limit{Algorithm: NoLimit}

// With returns the limit with another algorithm.
func (l Limit) With(a Algorithm) Limit {
	l.Algorithm = a
	return l
}

// WithBurst returns the limit with another burst: the capacity of a token
// bucket, or the queue of a leaky bucket. 0 means Count.
func (l Limit) WithBurst(burst int64) Limit {
	l.Burst = burst
	return l
}

// WithMaxWait returns the limit with a bound on how long anybody waits for it.
func (l Limit) WithMaxWait(d time.Duration) Limit {
	l.MaxWait = d
	return l
}

// InZone returns the limit counted by days, weeks, months or years of the calendar
// in a time zone. A period of 24 hours becomes a calendar day, and one of 7 days a
// week from Monday on; only a fixed window, which is the default for them, can count
// those.
func (l Limit) InZone(zone string) Limit {
	l.Zone = zone
	if l.byCalendar(); l.Calendar != "" && l.Algorithm == "" {
		l.Algorithm = FixedWindow
	}
	return l
}

// byCalendar makes a period that a zone can be given to one of the calendar.
func (l *Limit) byCalendar() {
	switch {
	case l.Calendar != "":
	case l.Period == 24*time.Hour:
		l.Calendar, l.Period = Day, 0
	case l.Period == 7*24*time.Hour:
		l.Calendar, l.Period = Week, 0
	}
}

// WithAnchorDay returns a monthly limit whose months begin on the given day, or
// on the last one of months that are shorter.
func (l Limit) WithAnchorDay(day int) Limit {
	l.AnchorDay = day
	return l
}

// Validate reports what is wrong with the limit, as a *[LimitError], or nil.
func (l Limit) Validate() error {
	_, err := compile([]Limit{l}, 0)
	return err
}

// filled returns the limit with every default that the algorithm uses.
func (l Limit) filled() Limit {
	if l.Algorithm == "" {
		l.Algorithm = TokenBucket
		if l.Calendar != "" {
			l.Algorithm = FixedWindow
		}
	}
	if l.Algorithm == "gcra" {
		l.Algorithm = TokenBucket
	}
	switch l.Algorithm {
	case TokenBucket, LeakyBucket:
		if l.Burst == 0 {
			l.Burst = l.Count
		}
	case SlidingWindow:
		if l.SubWindows == 0 && !l.Weighted {
			l.SubWindows = subWindows(l.Period)
		}
	case WarmUp:
		if l.ColdFactor == 0 {
			l.ColdFactor = 3
		}
	case FixedWindow:
		if l.Calendar == Month && l.AnchorDay == 0 {
			l.AnchorDay = 1
		}
	}
	return l
}

// subWindows returns the largest number up to 10 that divides the period.
func subWindows(period time.Duration) int {
	n := 10
	for us := period.Microseconds(); n > 1 && us%int64(n) != 0; {
		n--
	}
	return n
}
