package envoy

import (
	"strings"

	"github.com/sluice-limiter/sluice"
)

// Entry is one entry of a descriptor.
type Entry struct{ Key, Value string }

// Tree is what all files hold. It is immutable, and safe for concurrent use.
type Tree struct {
	domains map[string]*level
	leaves  []*Leaf // in the order of the files
	stamp   string
}

// Stamp returns that of the files before they were read: see the function.
func (t *Tree) Stamp() string {
	if t == nil {
		return ""
	}
	return t.stamp
}

// Instead returns the tree for when it is put in force again instead of a newer one, which
// was read from the same files: these have not changed since that one.
func (t *Tree) Instead(of *Tree) *Tree {
	if t == nil {
		return nil
	}
	again := *t
	again.stamp = of.Stamp()
	return &again
}

// level holds what may stand next in a descriptor. Keys and values are compared one by
// one, never joined: a,b_c and a_b,c are different things.
type level struct {
	exact    map[Entry]*branch
	patterns []pattern          // with a star in the value, in the order of the file
	bare     map[string]*branch // by key alone
}

// pattern is a value with stars; each stands for any text, none included.
type pattern struct {
	key   string
	parts []string // between the stars
	to    *branch
}

// branch is one descriptor of the file.
type branch struct {
	leaf *Leaf // nil: nothing is limited here
	next level
}

// Leaf is a limit of the tree.
type Leaf struct {
	Rule string // the name of the rule that decides, and of the attribute that makes it apply
	// Vary says which entries of a descriptor are part of the key, and Attributes
	// under which name: the others are the same for all that come here.
	Vary       []int
	Attributes []string

	Name      string   // for Replaces of others
	Replaces  []string // names whose limits do not count beside this one
	Unlimited bool
	Shadow    bool
	Quota     bool
	Metadata  map[string]any

	Count uint32
	Unit  Unit
	Times uint32 // so many of the unit
	Limit sluice.Limit

	Domain string
	Path   []Step // from the domain to here
}

// Step is one level on the way to a leaf, as the file has it.
type Step struct {
	Entry      // Value may be empty, or have stars
	Share bool // all values that fit the stars share one budget
}

// Find returns the limit of a descriptor, nil if it has none, and whether the domain is
// known. Of the descriptors on each level the first of these counts: the very value, the
// first pattern of the file that fits, the key alone. There is no way back from a level,
// and a limit holds only for descriptors that end where it stands.
func (t *Tree) Find(domain string, entries []Entry) (leaf *Leaf, known bool) {
	if t == nil {
		return nil, false
	}
	at, known := t.domains[domain]
	if !known {
		return nil, false
	}
	var b *branch
	for _, e := range entries {
		if at == nil {
			return nil, true
		}
		if b = at.find(e); b == nil {
			return nil, true
		}
		at = &b.next
	}
	if b == nil {
		return nil, true
	}
	return b.leaf, true
}

func (l *level) find(e Entry) *branch {
	if b := l.exact[e]; b != nil {
		return b
	}
	for i := range l.patterns {
		if p := &l.patterns[i]; p.key == e.Key && p.fits(e.Value) {
			return p.to
		}
	}
	return l.bare[e.Key]
}

// fits compares in time that grows with the lengths only: the first and the last part are
// fixed, and of those between each is found as early as possible.
func (p *pattern) fits(value string) bool {
	last := len(p.parts) - 1
	value, ok := strings.CutPrefix(value, p.parts[0])
	if !ok {
		return false
	}
	for _, part := range p.parts[1:last] {
		if _, value, ok = strings.Cut(value, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(value, p.parts[last])
}

// Leaves returns all limits, in the order of the files.
func (t *Tree) Leaves() []*Leaf {
	if t == nil {
		return nil
	}
	return t.leaves
}

// Domains returns how many domains there are.
func (t *Tree) Domains() int {
	if t == nil {
		return 0
	}
	return len(t.domains)
}
