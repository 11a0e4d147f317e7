package engine

// Stats are counts since the engine was made. Every request is counted wholly or not at
// all; one that ends while Stats is called may be missing. Peek, Explain, Reset and
// Refund do not count.
type Stats struct {
	Requests int64 // Allowed, Denied, Left and Errors together
	Allowed  int64
	Denied   int64
	Left     int64 // the caller's context ended before the request was decided, or while it waited
	Errors   int64 // could not be decided
	Shadow   int64 // allowed, but a limit that is not enforced would have refused them
	Degraded int64 // decided without the store
	NoRule   int64 // matched by no rule, and allowed or denied as the default says

	Rules []RuleStats // of the rules in force, in the order of the configuration
}

// RuleStats are counts of one rule, since it has its name.
type RuleStats struct {
	Rule            string
	Requests        int64 // that it matched: Allowed, Denied, ShadowDenied and Undecided together
	Allowed         int64 // by this rule, whatever others said
	Denied          int64
	ShadowDenied    int64 // would have been denied if it were enforced
	CandidateDenied int64 // would have been denied by its candidate limits
	Undecided       int64 // not asked to the end, since others had refused or it could not be decided
	Degraded        int64 // decided without the store
	CostOffered     int64 // of all requests that it matched: the offered load
	CostAdmitted    int64 // of those that were charged to its limits
}

// Stats returns what was counted. It costs some microseconds, and more with many
// rules.
func (e *Engine) Stats() Stats { return e.watch.stats() }

func (w *watch) stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	rules := make([]ruleCounts, len(w.known.rules))
	var all totals
	for i := range w.stripes {
		s := &w.stripes[i]
		s.mu.Lock()
		all.add(&s.totals)
		for j := range s.rules {
			rules[j].add(&s.rules[j])
		}
		s.mu.Unlock()
	}
	stats := Stats{
		Requests: all.allowed + all.denied + all.left + all.errors,
		Allowed:  all.allowed,
		Denied:   all.denied,
		Left:     all.left,
		Errors:   all.errors,
		Shadow:   all.shadow,
		Degraded: all.degraded,
		NoRule:   all.noRule,
		Rules:    make([]RuleStats, len(rules)),
	}
	for i := range rules {
		stats.Rules[i] = rules[i].stats(w.known.rules[i].Name)
	}
	return stats
}

func (c *ruleCounts) stats(name string) RuleStats {
	return RuleStats{
		Rule:            name,
		Requests:        c.charged + c.allowed + c.denied + c.shadow + c.undecided,
		Allowed:         c.charged + c.allowed,
		Denied:          c.denied,
		ShadowDenied:    c.shadow,
		CandidateDenied: c.candidate,
		Undecided:       c.undecided,
		Degraded:        c.degraded,
		CostOffered:     sum(c.chargedCost, c.otherCost),
		CostAdmitted:    c.chargedCost,
	}
}

func (t *totals) add(o *totals) {
	t.allowed += o.allowed
	t.denied += o.denied
	t.left += o.left
	t.errors += o.errors
	t.shadow += o.shadow
	t.degraded += o.degraded
	t.noRule += o.noRule
}

func (c *ruleCounts) add(o *ruleCounts) {
	c.charged += o.charged
	c.chargedCost = sum(c.chargedCost, o.chargedCost)
	c.allowed += o.allowed
	c.undecided += o.undecided
	c.denied += o.denied
	c.shadow += o.shadow
	c.otherCost = sum(c.otherCost, o.otherCost)
	c.candidate += o.candidate
	c.degraded += o.degraded
}
