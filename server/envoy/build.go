package envoy

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// Options sets up how files are read.
type Options struct {
	// Merge lets several files have the same domain.
	Merge bool
	// Zone is the time zone of days, weeks, months and years; empty means UTC.
	Zone string
}

// builder makes a tree of files.
type builder struct {
	options  Options
	tree     *Tree
	names    map[string]bool // of rules
	problems rulefile.Problems
}

// Parse makes a tree of the texts of files, in the order of names. The error is of type
// rulefile.Problems and tells everything that is wrong.
func Parse(files []File, o Options) (*Tree, error) {
	b := &builder{options: o, tree: &Tree{domains: map[string]*level{}}, names: map[string]bool{}}
	for _, f := range files {
		read, err := open(f.Name, f.Data)
		if err != nil {
			b.add(f.Name, err)
			continue
		}
		b.file(read)
		b.problems = append(b.problems, read.problems...)
	}
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	return b.tree, nil
}

func (b *builder) add(name string, err error) {
	if problems, ok := err.(rulefile.Problems); ok {
		b.problems = append(b.problems, problems...)
		return
	}
	b.problems = append(b.problems, rulefile.Problem{File: name, Reason: err.Error()})
}

func (b *builder) file(f *file) {
	domain, ok := f.read.Section("domain").(string)
	switch f.read.Section("domain").(type) {
	case int, int64, uint64, bool:
		domain, ok = f.raw("domain", ""), true
	}
	if !ok || domain == "" {
		f.fault("domain", "", "there is no domain", "begin the file with domain: NAME, the one that Envoy sends")
		return
	}
	root := b.tree.domains[domain]
	if root != nil && !b.options.Merge {
		f.fault("domain", "", fmt.Sprintf("another file has the domain %q", domain), "write both into one file, or set envoy.merge")
		return
	}
	if root == nil {
		root = &level{}
		b.tree.domains[domain] = root
	}
	b.level(root, f.objects(f.read.Section("descriptors"), "", "descriptors"), domain, nil)
}

// level reads the descriptors of one level.
func (b *builder) level(l *level, descriptors []*object, domain string, above []Step) {
	for _, d := range descriptors {
		d.only("key", "value", "rate_limit", "shadow_mode", "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata", "descriptors")
		step := Step{Entry: Entry{d.text("key"), d.text("value")}, Share: d.truth("share_threshold")}
		// Metrics are told by rule, and single values by the top keys: these change nothing.
		d.truth("detailed_metric")
		d.truth("value_to_metric")
		if step.Key == "" {
			d.fault("key", "a descriptor needs a key", "write key: NAME")
			continue
		}
		if step.Share && !strings.Contains(step.Value, "*") {
			d.fault("share_threshold", "share_threshold needs a value with a star", "write value: files*, or leave it out")
		}
		to, fresh := l.enter(step)
		if !fresh {
			d.fault("key", "the same key and value stand on this level before", "put all of it into one descriptor")
			continue
		}
		path := append(above[:len(above):len(above)], step)
		if to.leaf = b.leaf(d, domain, path); to.leaf != nil {
			b.tree.leaves = append(b.tree.leaves, to.leaf)
		}
		b.level(&to.next, d.list("descriptors"), domain, path)
	}
}

// enter makes the branch of a step; fresh is false if there is one already.
func (l *level) enter(s Step) (to *branch, fresh bool) {
	to = &branch{}
	if s.Value == "" {
		if l.bare[s.Key] != nil {
			return nil, false
		}
		if l.bare == nil {
			l.bare = map[string]*branch{}
		}
		l.bare[s.Key] = to
		return to, true
	}
	if l.exact[s.Entry] != nil {
		return nil, false
	}
	if l.exact == nil {
		l.exact = map[Entry]*branch{}
	}
	l.exact[s.Entry] = to // a pattern is a value too
	if strings.Contains(s.Value, "*") {
		l.patterns = append(l.patterns, pattern{s.Key, strings.Split(s.Value, "*"), to})
	}
	return to, true
}

// leaf reads the limit of a descriptor, nil if it has none.
func (b *builder) leaf(d *object, domain string, path []Step) *Leaf {
	leaf := &Leaf{Domain: domain, Path: path, Shadow: d.truth("shadow_mode"), Quota: d.truth("quota_mode")}
	if meta := d.object("metadata"); meta != nil {
		leaf.Metadata = meta.value
	}
	r := d.object("rate_limit")
	if r == nil {
		return nil
	}
	r.only("name", "replaces", "unit", "unit_multiplier", "requests_per_unit", "unlimited", "algorithm")
	leaf.Name, leaf.Unlimited = r.text("name"), r.truth("unlimited")
	for _, other := range r.list("replaces") {
		other.only("name")
		name := other.text("name")
		switch {
		case name == "":
			other.fault("name", "what is replaced needs a name", "write {name: OTHER}")
		case name == leaf.Name:
			other.fault("name", "a limit cannot replace itself", "name another one")
		}
		leaf.Replaces = append(leaf.Replaces, name)
	}
	b.amount(leaf, r)
	b.name(leaf, d)
	return leaf
}

// amount reads how much is allowed.
func (b *builder) amount(leaf *Leaf, r *object) {
	unit := r.text("unit")
	leaf.Unit = ParseUnit(unit)
	switch {
	case leaf.Unlimited && unit != "":
		r.fault("unit", "what is unlimited has no unit", "leave one of them out")
		return
	case leaf.Unlimited:
		return
	case leaf.Unit == 0:
		r.fault("unit", fmt.Sprintf("%q is no unit", unit), "use second, minute, hour, day, week, month or year")
		return
	}
	count, ok := whole(r.value["requests_per_unit"])
	if !ok {
		r.fault("requests_per_unit", "requests_per_unit has to be a whole number from 0 to 4294967295", "")
		return
	}
	leaf.Count, leaf.Times = count, 1
	if times := r.value["unit_multiplier"]; times != nil {
		if leaf.Times, ok = whole(times); !ok || leaf.Times == 0 {
			r.fault("unit_multiplier", "unit_multiplier has to be a whole number from 1 to 4294967295", "leave it out for 1")
			return
		}
	}
	var err error
	if leaf.Limit, err = Limit(count, leaf.Unit, leaf.Times, r.text("algorithm"), b.options.Zone); err != nil {
		r.fault("algorithm", err.Error(), "write algorithm: token_bucket, sliding_window, sliding_log or fixed_window, or leave it out")
	}
}

// whole returns a number that fits; none at all is 0.
func whole(v any) (uint32, bool) {
	switch n := v.(type) {
	case nil:
		return 0, true
	case int:
		return uint32(n), n >= 0 && n <= math.MaxUint32
	case int64:
		return uint32(n), n >= 0 && n <= math.MaxUint32
	case uint64:
		return uint32(n), n <= math.MaxUint32
	}
	return 0, false
}
