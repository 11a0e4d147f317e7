package sluice

import (
	"time"

	"github.com/sluice-limiter/sluice/algo"
)

// Reason says why a request was denied.
type Reason uint8

// Reasons. The zero Reason stands for an allowed request.
const (
	Limited     Reason = iota + 1 // the limit is used up; see RetryAfter
	Never                         // the cost is above what the limit can ever admit
	Banned                        // the limit admits nothing
	Unavailable                   // the store could not be asked, and the policy for that is to deny
	NoRule                        // rules: none matched, and the default is to deny
	MissingKey                    // rules: what the key is made of is missing, and the rule denies that
	Ambiguous                     // rules: the path can be read in more than one way
)

var reasonNames = [...]string{"", "limited", "never", "banned", "unavailable", "no_rule", "missing_key", "ambiguous"}

// String returns the reason in one word, empty for an allowed request.
func (r Reason) String() string { return reasonNames[min(int(r), len(reasonNames)-1)] }

// Decision is the answer to a request. A denial is no error. With several
// limits it speaks of the one that bound: of a denial the one that takes
// longest, else the one with least left.
type Decision struct {
	Allowed  bool
	Degraded bool // decided without the store, which could not be asked
	Blind    bool // and without any other, by a policy: it says nothing of the limit
	Reason   Reason

	index   int32
	verdict algo.Verdict
	spec    *algo.Spec
	plan    *Plan
}

// Limit returns the limit that bound.
func (d Decision) Limit() Limit {
	if d.plan == nil {
		return Limit{}
	}
	return d.plan.limits[d.Index()]
}

// Plan returns the limits that were asked, or nil if none was.
func (d Decision) Plan() *Plan { return d.plan }

// Index returns which of the limits bound: its number in [Plan.Limits], or -1 if none
// did.
func (d Decision) Index() int {
	if d.plan == nil {
		return -1
	}
	return d.plan.origin[d.index][d.window()]
}

// window returns which of a log's windows bound.
func (d Decision) window() int {
	if d.spec.Kind == algo.SlidingLog {
		return int(d.verdict.Window)
	}
	return 0
}

// Wait returns how long an allowed request has to wait before it goes ahead.
func (d Decision) Wait() time.Duration {
	return time.Duration(d.verdict.Wait) * time.Microsecond
}

// Remaining returns the cost that the limit would still admit.
func (d Decision) Remaining() int64 {
	if d.spec == nil {
		return 0
	}
	return d.spec.Remaining(d.verdict)
}

// RetryAfter returns when the same request will be allowed, if nobody else takes
// it first: exactly then, and not a microsecond before. It is 0 for an allowed
// request, and for one that can never be.
func (d Decision) RetryAfter() time.Duration {
	if d.spec == nil {
		return 0
	}
	return time.Duration(d.spec.RetryAfter(d.verdict)) * time.Microsecond
}

// ResetAfter returns when nothing that was spent counts any more.
func (d Decision) ResetAfter() time.Duration {
	if d.spec == nil {
		return 0
	}
	return time.Duration(d.spec.ResetAfter(d.verdict)) * time.Microsecond
}

// decision turns a verdict of spec number i into a decision.
func (p *Plan) decision(i int, v algo.Verdict) Decision {
	return p.decisionOf(i, p.specs[i], v)
}

// decisionOf is decision for a verdict of another spec than the plan's: that of
// a limit which changed this moment.
func (p *Plan) decisionOf(i int, spec *algo.Spec, v algo.Verdict) Decision {
	d := Decision{index: int32(i), verdict: v, spec: spec, plan: p}
	d.conclude()
	return d
}

// conclude says what the verdict means.
func (d *Decision) conclude() {
	switch {
	case d.verdict.Allowed:
		d.Allowed = true
	case d.spec.Kind == algo.Ban:
		d.Reason = Banned
	case d.verdict.Never:
		d.Reason = Never
	default:
		d.Reason = Limited
	}
}

// Observer is told of every decision, in the goroutine that asked: it must be
// quick and safe for concurrent use.
type Observer interface {
	// Observe gets the key, empty for a Limiter, and the cost that was asked for.
	Observe(key string, cost int64, d Decision)
}
