package failover

import "time"

// Event is a change of state.
type Event struct {
	Open  bool  // from now on the policies decide; else the main store does again
	Cause error // what opened the breaker
	At    time.Time
}

// notify tells everybody of a change.
func (c *core) notify(e Event) {
	e.At = c.clock.Time(c.clock.Now())
	if e.Open {
		c.logger.Error("sluice: the store is down, deciding without it", "error", e.Cause)
	} else {
		c.failed.Store(false)
		c.tellBack(c.clock.Now())
	}
	if c.observer != nil {
		c.observer(e)
	}
}

// answers notes that the main store answers. After failures that did not open the
// breaker, of which the log may know, it hears that too: at most once a second, so that
// the last of several such lines tells how it ended.
func (c *core) answers() {
	now, last := c.clock.Now(), c.toldBack.Load()
	if c.breaker.open.Load() || last != 0 && now-last < 1_000_000 || !c.failed.CompareAndSwap(true, false) {
		return
	}
	c.tellBack(now)
}

func (c *core) tellBack(now int64) {
	c.toldBack.Store(now)
	c.logger.Info("sluice: the store is back", "degraded", c.degraded.Load())
}

// count counts a decision without the main store, and logs at most once a second.
func (c *core) count(by policies) {
	total := c.degraded.Add(1)
	now, last := c.clock.Now(), c.logged.Load()
	if last != 0 && now-last < 1_000_000 || !c.logged.CompareAndSwap(last, now) {
		return
	}
	c.logger.Warn("sluice: deciding without the store", "policy", by.String(),
		"decisions", total-c.told.Swap(total), "error", c.breaker.lastCause())
}
