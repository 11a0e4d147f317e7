package rule

import (
	"net/http"
	"strconv"

	"github.com/sluice-limiter/sluice/algo"
)

// costOf returns what the request takes: never 0, since that spends nothing and would
// be a way round. A negative one is the caller's and passed on, for the store to refuse.
func (c *Compiled) costOf(x *exchange) int64 {
	switch {
	case x.request.Cost != 0:
		return x.request.Cost
	case c.varies:
		return c.variedCost(x)
	}
	return c.fixedCost
}

// variedCost returns what the request takes by a rule that looks at it for that.
func (c *Compiled) variedCost(x *exchange) int64 {
	cost := &c.Cost
	if c.costSlot >= 0 {
		if text := x.header(c.costSlot); text != "" {
			return cost.ofHeader(text)
		}
	}
	if length := x.request.Length; cost.Bytes > 0 && length != 0 {
		if length < 0 {
			return cost.Max
		}
		return cost.clamp((length-1)/cost.Bytes + 1)
	}
	return cost.ofMethod(x.request.Method)
}

// ofHeader reads a cost that a header field gives. What is no number says nothing, and
// 0 would be a way round; a number out of range is taken for the largest, so that
// nobody gets a lower price by writing it longer or with a minus.
func (c *Cost) ofHeader(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case n < 0 || n > algo.MaxCount: // also if it does not fit into 64 bits
		n = algo.MaxCount
	case err != nil || n == 0:
		n = c.Fixed
	}
	return c.clamp(n)
}

// ofMethod returns the cost of a method. HEAD costs what GET does if it has none of
// its own: servers do the same work for it.
func (c *Cost) ofMethod(method string) int64 {
	n, ok := c.Methods[method]
	if !ok && method == http.MethodHead {
		n, ok = c.Methods[http.MethodGet]
	}
	if !ok {
		return c.Fixed
	}
	return n
}

// clamp keeps what a client has a say in below the maximum.
func (c *Cost) clamp(n int64) int64 {
	if c.Max > 0 {
		n = min(n, c.Max)
	}
	return n
}
