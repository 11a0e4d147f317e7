package rule

import (
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
)

// compileRollout reads the share of keys.
func (c *compiler) compileRollout(rep report, out *Compiled) {
	out.rollout, out.rolloutSeed = wholeRollout, rolloutSeed(out.Name)
	if out.Rollout == "" {
		return
	}
	text, percent := strings.CutSuffix(out.Rollout, "%")
	share, err := strconv.ParseFloat(text, 64)
	if !percent {
		rep.fault("rollout", `write it with a percent sign, as in "10%"`, "%q has no percent sign", clip(out.Rollout))
		return
	}
	if err != nil || !(share >= 0 && share <= 100) {
		rep.fault("rollout", "use 0% to 100%", "%q is no share", clip(out.Rollout))
		return
	}
	if out.rollout = uint64(share*wholeRollout/100 + 0.5); out.rollout == 0 && share > 0 {
		rep.fault("rollout", "use 0.0001% or more, or 0%", "%q is so small that it would be nobody", clip(out.Rollout))
	}
}

// compileCost checks what requests cost.
func (c *compiler) compileCost(rep report, out *Compiled) {
	cost := &out.Cost
	checkCost := func(field string, n, least int64) {
		if n < least || n > algo.MaxCount {
			rep.fault(field, "use "+strconv.FormatInt(max(least, 1), 10)+" to 1e15", "%d is out of range", n)
		}
	}
	checkCost("cost.fixed", cost.Fixed, 1)
	checkCost("cost.bytes", cost.Bytes, 0)
	checkCost("cost.max", cost.Max, 0)
	for method, n := range cost.Methods {
		checkMethod(rep, inMap("cost.methods", method), method)
		checkCost(inMap("cost.methods", method), n, 1)
	}
	if cost.Header != "" {
		if name, ok := headerName(rep, "cost.header", cost.Header); ok {
			out.costSlot = c.slot(name)
		}
	}
	if cost.Response != "" {
		headerName(rep, "cost.response", cost.Response)
	}
	if cost.Bytes > 0 && cost.Max == 0 {
		rep.fault("cost.max", "say what a body of unknown length costs, and the most that a long one can", "missing, and bytes needs it")
	}
	if cost.Max > 0 && cost.Bytes == 0 && cost.Header == "" {
		rep.fault("cost.max", "leave it out", "does nothing without header or bytes")
	}
}
