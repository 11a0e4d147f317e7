package rule

import (
	"strconv"

	"github.com/sluice-limiter/sluice/algo"
)

// costOf returns what the request takes: never less than 1, since cost 0 spends
// nothing and would be a way round.
func (c *Compiled) costOf(x *exchange) int64 {
	if x.request.Cost > 0 {
		return x.request.Cost
	}
	cost := &c.Cost
	if c.costSlot >= 0 {
		if text := x.header(c.costSlot); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 1 || n > algo.MaxCount {
				n = cost.Fixed
			}
			return cost.clamp(n)
		}
	}
	if length := x.request.Length; cost.Bytes > 0 && length != 0 {
		if length < 0 {
			return cost.Max
		}
		return cost.clamp((length-1)/cost.Bytes + 1)
	}
	if n, ok := cost.Methods[x.request.Method]; ok {
		return n
	}
	return cost.Fixed
}

// clamp keeps what a client has a say in below the maximum.
func (c *Cost) clamp(n int64) int64 {
	if c.Max > 0 {
		n = min(n, c.Max)
	}
	return n
}
