package resp

import "github.com/sluice-limiter/sluice/engine"

// The fields of a decision in the order of the answer, each name as it goes over the
// wire, with what begins a value of its kind: to put them together anew would cost as much
// as a decision.
const (
	decisionV2 = "*20\r\n$7\r\nallowed\r\n" // names and values
	decisionV3 = "%10\r\n$7\r\nallowed\r\n"

	nameRemaining = "$9\r\nremaining\r\n:"
	nameRetry     = "$14\r\nretry_after_ms\r\n:"
	nameReset     = "$14\r\nreset_after_ms\r\n:"
	nameWait      = "$7\r\nwait_ms\r\n:"
	nameReason    = "$6\r\nreason\r\n$"
	nameRule      = "$4\r\nrule\r\n$"
	nameLimit     = "$5\r\nlimit\r\n$"
	nameShadow    = "$6\r\nshadow\r\n"
	nameDegraded  = "$8\r\ndegraded\r\n"
)

// decided writes a decision: pairs of name and value, a map in RESP3.
func (d *desk) decided(decision *engine.Decision, err error) {
	if err != nil {
		d.undecided(err)
		return
	}
	ruleName, start := "", decisionV2
	if decision.Rule != nil {
		ruleName = decision.Rule.Name
	}
	if d.v3 {
		start = decisionV3
	}
	d.out = append(d.out, start...)
	d.yes(decision.Allowed)
	d.number(nameRemaining, decision.Remaining())
	d.number(nameRetry, milliseconds(decision.RetryAfter()))
	d.number(nameReset, milliseconds(decision.ResetAfter()))
	d.number(nameWait, milliseconds(decision.Wait()))
	d.word(nameReason, decision.Reason.String())
	d.word(nameRule, ruleName)
	d.word(nameLimit, decision.LimitName)
	d.out = append(d.out, nameShadow...)
	d.yes(decision.Shadow)
	d.out = append(d.out, nameDegraded...)
	d.yes(decision.Degraded)
}

// number writes a number after its name.
func (r *reply) number(name string, n int64) {
	r.out = appendLine(append(r.out, name...), n)
}

// word writes a text after its name.
func (r *reply) word(name, text string) {
	out := appendLine(append(r.out, name...), int64(len(text)))
	r.out = append(append(out, text...), '\r', '\n')
}
