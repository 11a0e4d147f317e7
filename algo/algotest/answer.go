package algotest

import (
	"math"
	"strconv"

	"github.com/sluice-limiter/sluice/store"
)

// answer is what the limits said to one request.
type answer struct {
	limits []*limit
	checks []store.Check
}

// value returns a field of the answer as text.
func (a answer) value(op store.Op, x want) string {
	a = a.of(x.limit)
	switch x.field {
	case "verdict":
		return a.verdict(op)
	case "remaining":
		return strconv.FormatInt(a.least(remaining), 10)
	case "retry":
		return formatRetry(a.most(retryAfter))
	case "reset":
		return formatDuration(a.most(func(c *store.Check) int64 { return c.Spec.ResetAfter(c.Verdict) }))
	case "wait":
		return formatDuration(a.most(func(c *store.Check) int64 { return c.Verdict.Wait }))
	}
	return a.by()
}

// of leaves the limit of that name. Without a name it leaves all that decide: those
// that are no shadows, if there are any.
func (a answer) of(name string) answer {
	firm := 0
	for i, l := range a.limits {
		if name != "" && l.name == name {
			return answer{a.limits[i : i+1], a.checks[i : i+1]}
		}
		if !l.shadow {
			firm = i + 1
		}
	}
	if firm == 0 {
		return a
	}
	return answer{a.limits[:firm], a.checks[:firm]}
}

// allowed reports whether all limits allow.
func (a answer) allowed() bool {
	for i := range a.checks {
		if !a.checks[i].Verdict.Allowed {
			return false
		}
	}
	return true
}

// verdict says the decision in the words of the request.
func (a answer) verdict(op store.Op) string {
	if a.allowed() {
		return verdicts[op][0]
	}
	return verdicts[op][1]
}

// by names what bound: among those that denied the one with the longest wait,
// else the one that has least left; of a single log, its window.
func (a answer) by() string {
	if len(a.limits) == 1 && a.limits[0].windows != nil {
		return a.limits[0].windows[a.checks[0].Verdict.Window]
	}
	bound, best := 0, int64(math.MinInt64)
	for i := range a.checks {
		weight := -remaining(&a.checks[i])
		if !a.allowed() {
			weight = retryAfter(&a.checks[i])
		}
		if weight > best {
			bound, best = i, weight
		}
	}
	return a.limits[bound].name
}

func (a answer) least(of func(*store.Check) int64) int64 {
	return -a.most(func(c *store.Check) int64 { return -of(c) })
}

func (a answer) most(of func(*store.Check) int64) int64 {
	most := int64(math.MinInt64)
	for i := range a.checks {
		most = max(most, of(&a.checks[i]))
	}
	return most
}

func remaining(c *store.Check) int64 { return c.Spec.Remaining(c.Verdict) }

// never stands for a wait without end.
const never = math.MaxInt64

func retryAfter(c *store.Check) int64 {
	if c.Verdict.Never {
		return never
	}
	return c.Spec.RetryAfter(c.Verdict)
}

func formatRetry(us int64) string {
	if us == never {
		return "never"
	}
	return formatDuration(us)
}
