package rls

// ask is what is decided in one step, for all of its items or for none. Nearly always
// there is only one: all descriptors of a call. Others are needed for the same limit
// under two keys, for different costs, for quotas, and for limits of the request itself;
// what was taken before one of them refuses is given back.
type ask struct {
	cost    int64
	items   int  // how many
	first   int  // item
	quota   bool // it refuses only if all quotas do
	own     bool // a limit of the request itself
	granted bool
}

// plan puts the items into asks.
func (c *call) plan() {
	quotas := 0
	for i := range c.items {
		if it := &c.items[i]; it.quota && !it.refund {
			quotas++
		}
	}
	apart := quotas > 1 // a single one refuses like any other limit
	for i := range c.items {
		it := &c.items[i]
		it.ask = -1
		if !it.spends() {
			continue
		}
		if it.ask = c.place(it, apart); it.ask < 0 {
			it.ask = len(c.asks)
			c.asks = append(c.asks, ask{cost: it.cost, first: i, quota: it.quota && apart, own: it.override != nil})
		}
		c.asks[it.ask].items++
	}
}

// place returns an ask that the item can be part of, -1 if there is none.
func (c *call) place(it *item, apart bool) int {
	if it.override != nil || it.quota && apart {
		return -1
	}
	for n := range c.asks {
		if a := &c.asks[n]; !a.own && !a.quota && a.cost == it.cost && !c.has(n, it) {
			return n
		}
	}
	return -1
}

// has reports whether an ask has the limit of the item already.
func (c *call) has(ask int, it *item) bool {
	for i := range c.items {
		if o := &c.items[i]; o == it {
			return false
		} else if o.ask == ask && o.leaf == it.leaf {
			return true
		}
	}
	return false
}
