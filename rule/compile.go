package rule

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
)

// compiler makes a set, and collects what is wrong on the way.
type compiler struct {
	conditions func(string) (func(*Request) bool, error)
	secret     *secret
	now        time.Time

	aboutConcurrency *Finding // to add at each such limit; nil: nothing

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
		c.whole().fault("rules", "check the limits one by one", "%v", err)
		return nil
	}
	c.checkBeside()
	c.checkOverlaps()
	return set
}

// finish builds the index, and another one for requests whose path is ambiguous: of
// the rules that depend on it, by all that they ask for beside it.
func (c *compiler) finish() {
	var all, byPath []indexed
	for _, r := range c.core.rules {
		if r.Mode == Off {
			continue
		}
		r.byPath = r.readsPath()
		c.core.concurrency = c.core.concurrency || r.HasConcurrency()
		terms := r.terms()
		all = append(all, indexed{rule: r, terms: terms})
		if c.core.needsHost = c.core.needsHost || r.readsHost(); r.byPath {
			other := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t.field == pathsField })
			byPath = append(byPath, indexed{rule: r, terms: other})
		}
	}
	var index indexer
	index.build(all, 0)
	if byPath != nil && c.core.config.Paths.Ambiguous != ambiguousDecode {
		c.core.refuseAmbiguous = true
		c.core.blind = index.build(byPath, 0)
	}
	c.core.nodes = index.nodes
	c.core.foldPaths = c.core.config.Paths.FoldCase
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

// readsPath reports whether the rule depends on the request's path. One for all paths
// does not.
func (c *Compiled) readsPath() bool {
	all := func(p pattern) bool { return p.below && len(p.segments) == 0 }
	return len(c.paths.list) > 0 && !slices.ContainsFunc(c.paths.list, all) ||
		c.key.readsPath() || mentionsPath(c.Match.When)
}

// mentionsPath reports whether an expression looks at the path, as far as can be told
// from its text.
func mentionsPath(when string) bool { return strings.Contains(strings.ToLower(when), "path") }

// readsPath reports whether keys depend on the path.
func (k *keyMaker) readsPath() bool {
	return slices.ContainsFunc(k.parts, func(p part) bool { return p.ofPath() })
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
	out.prepare()
	checkFields(rep, r, out)
	c.tellConcurrency(rep, out)
	checkLists(rep, out)
	checkReach(rep, out)
	return out
}

// prepare notes what is not to be worked out for every request.
func (c *Compiled) prepare() {
	c.asks = c.asked()
	c.asksBlind = c.asks &^ setOf(pathsField)
	if mentionsPath(c.Match.When) {
		c.asksBlind &^= setOf(whenField)
	}
	c.exempts = len(c.skipIPs.list)+len(c.skipHeaders) > 0
	c.picks = !c.skipKeys.empty() || !c.overrides.empty() || c.rollout != wholeRollout
	c.hashes = c.key.secret != nil && len(c.key.parts) > 0
	c.varies = c.costSlot >= 0 || c.Cost.Bytes > 0 || len(c.Cost.Methods) > 0
	c.enforces = c.Mode == Enforce
	c.fixedCost = c.Cost.Fixed
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
