package engine

import (
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// Decision is the answer to a request. Of a denial it speaks of the enforced limit
// that takes longest, else of the one with least left.
type Decision struct {
	sluice.Decision                // of the limit that bound
	Rule            *rule.Compiled // the rule that bound, nil if none is enforced
	LimitName       string         // of the limit that bound
	Shadow          bool           // allowed, but a limit that is not enforced would have refused it
	Waits           bool           // a denial that may turn into an allowance within the rule's wait: see Engine.Wait

	wait time.Duration
}

// Wait returns how long an allowed request has to be held before it goes ahead: the
// longest wait of all its rules.
func (d Decision) Wait() time.Duration { return d.wait }

// refusal is a denial that no limit is to blame for.
func refusal(why sluice.Reason, by *rule.Compiled) Decision {
	return Decision{Decision: sluice.Decision{Reason: why}, Rule: by}
}
