package resp

import "github.com/sluice-limiter/sluice/engine"

// The fields of a decision in the order of the answer, each name as it goes over the
// wire: to put them together anew would cost as much as a decision.
const (
	decisionV2 = "*20\r\n" // names and values
	decisionV3 = "%10\r\n"

	nameAllowed   = "$7\r\nallowed\r\n"
	nameRemaining = "$9\r\nremaining\r\n"
	nameRetry     = "$14\r\nretry_after_ms\r\n"
	nameReset     = "$14\r\nreset_after_ms\r\n"
	nameWait      = "$7\r\nwait_ms\r\n"
	nameReason    = "$6\r\nreason\r\n"
	nameRule      = "$4\r\nrule\r\n"
	nameLimit     = "$5\r\nlimit\r\n"
	nameShadow    = "$6\r\nshadow\r\n"
	nameDegraded  = "$8\r\ndegraded\r\n"
)

// decided writes a decision: pairs of name and value, a map in RESP3.
func (d *desk) decided(decision *engine.Decision, err error) {
	if err != nil {
		d.undecided(err)
		return
	}
	ruleName := ""
	if decision.Rule != nil {
		ruleName = decision.Rule.Name
	}
	if d.v3 {
		d.ready(decisionV3)
	} else {
		d.ready(decisionV2)
	}
	d.ready(nameAllowed)
	d.yes(decision.Allowed)
	d.ready(nameRemaining)
	d.integer(decision.Remaining())
	d.ready(nameRetry)
	d.integer(milliseconds(decision.RetryAfter()))
	d.ready(nameReset)
	d.integer(milliseconds(decision.ResetAfter()))
	d.ready(nameWait)
	d.integer(milliseconds(decision.Wait()))
	d.ready(nameReason)
	d.text(decision.Reason.String())
	d.ready(nameRule)
	d.text(ruleName)
	d.ready(nameLimit)
	d.text(decision.LimitName)
	d.ready(nameShadow)
	d.yes(decision.Shadow)
	d.ready(nameDegraded)
	d.yes(decision.Degraded)
}

// ready appends what is in the form of the wire already.
func (r *reply) ready(s string) { r.out = append(r.out, s...) }
