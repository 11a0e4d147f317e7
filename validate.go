package sluice

import (
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/algo"
)

// fault returns a LimitError about one field of l.
func (l Limit) fault(field, hint, reason string, args ...any) error {
	return &LimitError{Limit: clip(l.String()), Field: field, Reason: fmt.Sprintf(reason, args...), Hint: hint}
}

// check finds what is wrong with a filled limit.
func (l Limit) check() error {
	if err := l.checkAlgorithm(); err != nil {
		return err
	}
	if err := l.checkFields(); err != nil {
		return err
	}
	if l.Algorithm == NoLimit {
		return nil
	}
	if l.Count < 0 || l.Count > algo.MaxCount {
		return l.fault("count", "use 0 to 1e15", "%d is out of range", l.Count)
	}
	if l.Burst < 0 || l.Burst > algo.MaxCount {
		return l.fault("burst", "use 1 to 1e15", "%d is out of range", l.Burst)
	}
	if l.MaxWait < 0 || l.MaxWait > algo.MaxAhead*time.Microsecond {
		return l.fault("max_wait", "use up to 8784h", "%v is out of range", l.MaxWait)
	}
	if l.MaxWait%time.Microsecond != 0 {
		return l.fault("max_wait", "round it to microseconds", "%v is not whole microseconds", l.MaxWait)
	}
	if l.WarmUp%time.Microsecond != 0 {
		return l.fault("warm_up", "round it to microseconds", "%v is not whole microseconds", l.WarmUp)
	}
	if l.MaxLog != 0 && (l.MaxLog < algo.MaxLog || l.MaxLog > algo.MaxCount) {
		return l.fault("max_log", "use 100000 to 1e15 or leave it out", "%d does not raise the bound of 100,000", l.MaxLog)
	}
	if l.Calendar != "" {
		return l.checkCalendar()
	}
	return l.checkPeriod()
}

func (l Limit) checkAlgorithm() error {
	switch l.Algorithm {
	case TokenBucket, LeakyBucket, WarmUp, FixedWindow, SlidingWindow, SlidingLog, NoLimit:
		return nil
	case InFlight:
		return l.fault("algorithm", "write it into a rule, or use sluice.NewConcurrency or NewKeyedConcurrency",
			"concurrency is no rate: it counts who is in flight, who has to leave again")
	case "adaptive":
		return l.fault("algorithm", "use one of the others until then", "adaptive is not built yet")
	}
	return l.fault("algorithm", "use token_bucket, leaky_bucket, warm_up, fixed_window, sliding_window or sliding_log",
		"%q is unknown", clip(string(l.Algorithm)))
}

// checkFields refuses what does not apply to the algorithm: a field that does
// nothing is a mistake of whoever wrote it.
func (l Limit) checkFields() error {
	a := l.Algorithm
	bucket := a == TokenBucket || a == LeakyBucket
	for _, f := range []struct {
		name string
		set  bool
		fits bool
	}{
		{"count", l.Count != 0, a != NoLimit},
		{"period", l.Period != 0, a != NoLimit && a != InFlight && l.Calendar == ""},
		{"burst", l.Burst != 0, bucket},
		{"max_wait", l.MaxWait != 0, bucket || a == WarmUp},
		{"refill", l.Refill != "", a == TokenBucket},
		{"start", l.Start != "", a == FixedWindow && l.Calendar == ""},
		{"calendar", l.Calendar != "", a == FixedWindow},
		{"zone", l.Zone != "", l.Calendar != ""},
		{"anchor_day", l.AnchorDay != 0, l.Calendar == Month},
		{"sub_windows", l.SubWindows != 0, a == SlidingWindow && !l.Weighted},
		{"weighted", l.Weighted, a == SlidingWindow},
		{"max_log", l.MaxLog != 0, a == SlidingLog},
		{"warm_up", l.WarmUp != 0, a == WarmUp},
		{"cold_factor", l.ColdFactor != 0, a == WarmUp},
	} {
		if f.set && !f.fits {
			return l.fault(f.name, "leave it out", "does not apply to this kind of %s", a)
		}
	}
	if l.Refill != Smoothly && l.Refill != ByInterval {
		return l.fault("refill", `use "interval" or leave it out`, "%q is unknown", clip(string(l.Refill)))
	}
	if l.Start != Aligned && l.Start != FirstHit {
		return l.fault("start", `use "first_hit" or leave it out`, "%q is unknown", clip(string(l.Start)))
	}
	return nil
}

// checkInFlight finds what is wrong with a limit on how much is in flight.
func (l Limit) checkInFlight() error {
	if err := l.checkFields(); err != nil {
		return err
	}
	if l.Count < 1 || l.Count > algo.MaxCount {
		return l.fault("count", "use 1 to 1e15", "%d is out of range", l.Count)
	}
	return nil
}

func (l Limit) checkCalendar() error {
	if l.Calendar.nominal() == 0 {
		return l.fault("calendar", `use "day", "week", "month" or "year"`, "%q is unknown", clip(string(l.Calendar)))
	}
	if l.AnchorDay < 0 || l.AnchorDay > 31 {
		return l.fault("anchor_day", "use 1 to 31", "%d is no day of a month", l.AnchorDay)
	}
	if _, err := time.LoadLocation(l.Zone); err != nil {
		return l.fault("zone", `use a name of the IANA database, such as "Europe/Berlin"`, "%q is unknown", clip(l.Zone))
	}
	return nil
}

func (l Limit) checkPeriod() error {
	switch {
	case l.Period <= 0:
		return l.fault("period", `write it with a unit, as in "100/s"`, "missing or not positive")
	case l.Period%time.Microsecond != 0:
		return l.fault("period", "round it to microseconds", "%v is not whole microseconds", l.Period)
	case l.Period.Microseconds() > algo.MaxSpan:
		return l.fault("period", "use up to 100 years", "%v is too long", l.Period)
	}
	return nil
}

// explain turns a complaint of algo into one about the limit.
func (l Limit) explain(err error) error {
	switch err {
	case algo.ErrRate:
		return l.fault("count", "use a smaller count or a longer period", "more than 1e9 per second")
	case algo.ErrSlow:
		return l.fault("burst", "use a smaller burst or a higher rate", "takes more than 100 years to recover")
	case algo.ErrSub:
		return l.fault("sub_windows", fmt.Sprintf("use %d", subWindows(l.Period)),
			"%d is not from 1 to 1000 or does not divide the period", l.SubWindows)
	case algo.ErrLog:
		return l.fault("count", "use sliding_window, which needs no memory per request, or raise max_log",
			"a log of %d entries per key is more than %d", l.Count, max(l.MaxLog, algo.MaxLog))
	case algo.ErrWarm:
		return l.fault("warm_up", "give a warm-up period above 0 and a cold factor from 1 to 1e6",
			"a period of %v with a cold factor of %v", l.WarmUp, l.ColdFactor)
	}
	return l.fault("limit", "", "%v", err)
}
