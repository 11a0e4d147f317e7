package rule

import (
	"slices"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Set is rules made ready: immutable, and safe for concurrent use.
type Set struct {
	*core
	limits  []ruleLimits // by number of the rule
	laidOut time.Time    // for when calendars are laid out
	until   time.Time    // from when on they have to be laid out anew; zero without any
}

// core is what of a set does not depend on the time.
type core struct {
	config  Config
	rules   []*Compiled
	nodes   []node   // the index; the first is its root
	headers []string // names of all header fields that are asked for, by slot

	concurrency     bool // a rule in force has such a limit
	needsHost       bool
	foldPaths       bool
	refuseAmbiguous bool  // paths, that is
	blind           int32 // root of the index for those
}

// Compiled is one rule, ready. All who use the set share it: it is to be read only.
type Compiled struct {
	Rule      // with its defaults filled in
	Index int // its number in the set

	// What every hit needs stands together.
	asks      fieldSet // fields that the match has
	asksBlind fieldSet // those that do not depend on the path
	byPath    bool     // what it does depends on the path
	exempts   bool     // by address or header
	picks     bool     // not all keys are treated alike
	hashes    bool     // keys are hashed
	varies    bool     // the cost does
	enforces  bool     // save where the rollout says otherwise
	fixedCost int64
	rollout   uint64
	key       keyMaker

	methods     []string
	hosts       hostList
	paths       pathList
	headers     []headerTest
	ips         prefixes
	attributes  []attributeTest
	when        func(*Request) bool
	skipIPs     prefixes
	skipHeaders []headerTest
	skipKeys    keyTable
	overrides   keyTable
	costSlot    int // of Cost.Header; -1 without
	rolloutSeed uint64
}

// Compile makes a Set. The error is of type Findings and holds all errors that
// Validate finds; warnings are not told: see Check.
func Compile(c Config, opts ...Option) (*Set, error) {
	set, findings := Examine(c, opts...)
	return set, findings.Err()
}

// Validate reports everything that is wrong with the rules or looks like a mistake.
func Validate(c Config, opts ...Option) Findings {
	_, findings := Examine(c, opts...)
	return findings
}

// Examine does what Compile and Validate do, at once: it makes a set, which is nil if
// there is an error among the findings, and reports everything that is wrong or looks
// like a mistake.
func Examine(c Config, opts ...Option) (*Set, Findings) {
	made := newCompiler(c, opts)
	set := made.set()
	return set, made.found()
}

// Rules returns the rules, in the order of the configuration. They are to be read
// only.
func (s *Set) Rules() []*Compiled { return slices.Clone(s.rules) }

// Config returns a copy of what the set was made from.
func (s *Set) Config() Config { return s.config.clone() }

// Fresh returns the set laid out anew for its calendars if that is due at now, else
// the set itself. Without calendars it never is, and HasCalendar is false.
func (s *Set) Fresh(now time.Time) *Set {
	// A plan knows the calendar from two of its windows back, and a day has 23 hours
	// at least.
	if !s.HasCalendar() || now.Before(s.until) && s.laidOut.Sub(now) < 23*time.Hour {
		return s
	}
	fresh := &Set{core: s.core}
	if err := fresh.layOut(now); err != nil { // was fine before
		return s
	}
	return fresh
}

// HasCalendar reports whether now matters to Fresh.
func (s *Set) HasCalendar() bool { return !s.until.IsZero() }

// layOut makes the plans of all rules for now.
func (s *Set) layOut(now time.Time) error {
	s.laidOut = now
	s.limits = make([]ruleLimits, len(s.rules))
	for i, c := range s.rules {
		base, err := s.plans(now, c, c.Limits)
		if err != nil {
			return err
		}
		s.limits[i].base = base
		for _, o := range c.Overrides {
			other, err := s.plans(now, c, o.Limits)
			if err != nil {
				return err
			}
			s.limits[i].overrides = append(s.limits[i].overrides, other)
		}
	}
	return nil
}

// Limits are those that hold for a key, by place: see [Limit.Place]. A plan without
// limits is nil. No two of them share a state.
type Limits struct {
	Enforce   [Places]*sluice.Plan
	Candidate [Places]*sluice.Plan
	Names     [Places][]string // of the limits of Enforce

	// Only is the plan of Cluster if it has one spec, nothing else is asked beside it and
	// nobody waits: what rules mostly are.
	Only *sluice.Plan
}

// Index numbers the scopes: Cluster 0, Instance 1, Split 2.
func (s Scope) Index() int {
	switch s {
	case Instance:
		return 1
	case Split:
		return 2
	}
	return 0
}

// planOrder is the order in which places get their states. What is enforced comes
// before candidates, so that a candidate that comes or goes changes no state of it.
var planOrder = [Places]int{Cluster.Index(), Split.Index(), Instance.Index(), ClusterPermits, InstancePermits}

// plans makes the plans of limits of a rule that hold for the same keys.
func (s *Set) plans(now time.Time, c *Compiled, enforced []Limit) (*Limits, error) {
	limits := &Limits{}
	var groups [2 * Places][]sluice.Limit
	for i, place := range planOrder {
		for _, l := range enforced {
			if l.Place() == place {
				groups[i] = append(groups[i], l.Limit)
				limits.Names[place] = append(limits.Names[place], l.Name)
			}
		}
		for _, l := range c.Candidate {
			if l.Place() == place {
				groups[Places+i] = append(groups[Places+i], l.Limit)
			}
		}
	}
	plans, err := sluice.NewPlans(now, groups[:]...)
	if err != nil {
		return nil, err
	}
	for i, place := range planOrder {
		limits.Enforce[place] = s.used(plans[i])
		limits.Candidate[place] = s.used(plans[Places+i])
	}
	if c.Wait == 0 {
		limits.Only = limits.only()
	}
	return limits, nil
}

// only returns the plan of Cluster if there is nothing else, and that is one spec.
func (l *Limits) only() *sluice.Plan {
	p := l.Enforce[Cluster.Index()]
	if p == nil || len(p.Specs()) != 1 || l.Enforce != [Places]*sluice.Plan{p} || l.Candidate != [Places]*sluice.Plan{} {
		return nil
	}
	return p
}

// used returns the plan, or nil if it has no limits, and notes until when it holds.
func (s *Set) used(p *sluice.Plan) *sluice.Plan {
	if len(p.Specs()) == 0 {
		return nil
	}
	if until := p.Until(); !until.IsZero() && (s.until.IsZero() || until.Before(s.until)) {
		s.until = until
	}
	return p
}

// ruleLimits are the limits of one rule.
type ruleLimits struct {
	base      *Limits
	overrides []*Limits
}

// find returns the limits of an override, or the rule's own for -1.
func (r *ruleLimits) find(override int) *Limits {
	if override < 0 {
		return r.base
	}
	return r.overrides[override]
}
