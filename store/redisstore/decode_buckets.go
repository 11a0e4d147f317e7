package redisstore

import "github.com/sluice-limiter/sluice/algo"

// buckets reads the reply to requests that encodeBuckets has packed: for every limit
// of every request that does not repeat the one before, where it stood. What
// the script has decided follows from that, by the rules which it mirrors.
func (d *decoder) buckets(decisions []*decision) {
	var stood [mostLimits]algo.State
	for _, one := range decisions {
		if !one.repeat {
			d.stood(one, &stood)
		}
		if d.short {
			return
		}
		one.follow(d.now, &stood)
	}
}

// stood reads where the limits of a decision stood.
func (d *decoder) stood(one *decision, stood *[mostLimits]algo.State) {
	if !oneWindow(one) && !onlyBuckets(one) { // not an answer to what was sent
		d.short = true
		return
	}
	for i := range one.checks {
		m := one.checks[i].Spec.BucketMark(algo.Verdict{X: d.next(), Y: d.next()}, d.now)
		stood[i] = algo.State{T: m.A, F: m.B, G: m.C, Ahead: true} // the script has cut it already
	}
}

// follow decides, all or nothing, what the script has decided of these limits.
func (one *decision) follow(now int64, stood *[mostLimits]algo.State) {
	allowed, firm := true, one.firm()
	for i := range one.checks {
		c := &one.checks[i]
		c.Now, c.Verdict = now, algo.Check(c.Spec, &stood[i], now, c.Cost, c.MaxWait)
		if c.Verdict.Allowed && c.Cost > 0 && isBucket(c.Spec) {
			c.Mark = c.Spec.BucketMark(c.Verdict, now)
		}
		allowed = allowed && (c.Verdict.Allowed || i >= firm)
	}
	for i := range one.checks {
		if c := &one.checks[i]; allowed && c.Verdict.Allowed && c.Cost > 0 {
			algo.Spend(c.Spec, &stood[i], now, c.Cost)
			if !isBucket(c.Spec) { // else the verdict told it, even if nothing is spent
				c.Mark = c.Spec.Mark(&stood[i])
			}
		}
	}
}
