package rule

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// compiler makes a set, and collects what is wrong on the way.
type compiler struct {
	conditions func(string) (func(*Request) bool, error)
	secret     *secret
	now        time.Time

	core     *core
	slots    map[string]int // of header fields
	findings Findings
}

// whole reports about the configuration as a whole.
func (c *compiler) whole() report { return report{findings: &c.findings, index: -1} }

// newCompiler returns a compiler that is set up.
func newCompiler(config Config, opts []Option) *compiler {
	c := &compiler{core: &core{config: config.clone()}, slots: map[string]int{}}
	for _, opt := range opts {
		opt(c)
	}
	if c.now.IsZero() {
		c.now, _ = clock.System().Base()
	}
	return c
}

// found returns the findings in the order of the rules.
func (c *compiler) found() Findings {
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Index, b.Index) })
	return c.findings
}

// set makes the set. With errors in the findings there is none.
func (c *compiler) set() *Set {
	c.checkConfig()
	for i, r := range c.core.config.Rules {
		rep := report{&c.findings, r.Name, i}
		c.core.rules = append(c.core.rules, c.compileRule(rep, i, r))
	}
	if c.findings.Err() != nil {
		return nil
	}
	c.finish()
	set := &Set{core: c.core}
	if err := set.layOut(c.now); err != nil {
		c.whole().fault("rules", "", "%v", err)
	}
	return set
}

// finish builds the index.
func (c *compiler) finish() {
	var rules []indexed
	for _, r := range c.core.rules {
		if r.Mode != Off {
			rules = append(rules, indexed{rule: r, terms: r.terms()})
			c.core.needsHost = c.core.needsHost || r.readsHost()
			c.core.refuseAmbiguous = c.core.refuseAmbiguous || r.readsPath()
		}
	}
	if c.core.config.Paths.Ambiguous == ambiguousDecode {
		c.core.refuseAmbiguous = false
	}
	c.core.root = buildIndex(rules, 0)
}

// slot returns the number of a header field, which is given one if it has none.
func (c *compiler) slot(name string) int {
	slot, ok := c.slots[name]
	if !ok {
		slot = len(c.core.headers)
		c.slots[name] = slot
		c.core.headers = append(c.core.headers, name)
	}
	return slot
}

// readsHost reports whether the rule depends on the request's host.
func (c *Compiled) readsHost() bool {
	return len(c.hosts.list) > 0 || c.key.has(hostPart)
}

// readsPath reports whether the rule depends on the request's path.
func (c *Compiled) readsPath() bool {
	return len(c.paths.list) > 0 || c.key.has(pathPart)
}

func (k *keyMaker) has(kind partKind) bool {
	return slices.ContainsFunc(k.parts, func(p part) bool { return p.kind == kind })
}

// compileRule checks a rule and makes it ready.
func (c *compiler) compileRule(rep report, i int, r Rule) *Compiled {
	out := &Compiled{Rule: filled(r), Index: i, costSlot: -1}
	checkEnums(rep, out.Rule)
	c.compileMatch(rep, out)
	c.compileSkip(rep, out)
	c.compileKey(rep, out)
	c.compileLimits(rep, out)
	c.compileOverrides(rep, out)
	c.compileCost(rep, out)
	c.compileRollout(rep, out)
	checkFields(rep, r, out)
	checkReach(rep, out)
	return out
}

// filled returns the rule with its defaults.
func filled(r Rule) Rule {
	fill(&r.Missing, MissingSkip)
	fill(&r.Scope, Cluster)
	fill(&r.OnStoreError, ErrorLocal)
	fill(&r.Mode, Enforce)
	if r.Cost.Fixed == 0 {
		r.Cost.Fixed = 1
	}
	r.Limits = filledLimits(r, r.Limits)
	r.Candidate = filledLimits(r, r.Candidate)
	r.Overrides = slices.Clone(r.Overrides)
	for i := range r.Overrides {
		r.Overrides[i].Limits = filledLimits(r, r.Overrides[i].Limits)
	}
	return r
}

func filledLimits(r Rule, limits []Limit) []Limit {
	limits = slices.Clone(limits)
	for i := range limits {
		fill(&limits[i].Scope, r.Scope)
		fill(&limits[i].Name, r.Name)
	}
	return limits
}

func fill[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}
