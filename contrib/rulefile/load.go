package rulefile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sluice-limiter/sluice/rule"
)

// Result is what files hold.
type Result struct {
	Config   rule.Config // the rules of all files, in the order of names
	Set      *rule.Set   // the same, ready for an engine
	Tests    []Test
	Warnings Problems // what works, but hardly as meant
	Files    []string // that were read
	Hash     string   // of names and contents

	sections map[string]any
	places   map[string]*node // of sections
	tests    []*node
	options  *options
}

// Load reads a file, or all *.yaml and *.yml files of a directory in the order of
// their names, without those below it and hidden ones. What is being written to is read
// again, a few times. If anything is wrong with the files the error is of type [Problems]
// and tells all of it.
func Load(path string, opts ...Option) (*Result, error) {
	sources, err := untilSettled(func() ([]*source, error) { return readAll(path) })
	if err != nil {
		return nil, err
	}
	return assemble(sources, newOptions(opts))
}

// Parse reads one file from memory. The name is for messages.
func Parse(name string, data []byte, opts ...Option) (*Result, error) {
	return assemble([]*source{newSource(name, data)}, newOptions(opts))
}

// Section returns the value of a section that the option [Section] allowed, of the
// type of its defaults; these themselves if no file has it.
func (r *Result) Section(name string) any { return r.sections[name] }

// At returns a problem at the place of a field of a section, such as
// server.listen[1]: for what only its owner can find out.
func (r *Result) At(section, field, reason, hint string) Problem {
	p := Problem{File: r.Files[0], Reason: reason, Hint: hint}
	if n := r.places[section]; n != nil {
		p = n.find(field).problem(reason, hint)
	}
	p.Field = join(section, field)
	return p
}

// assemble makes one result of all files, or tells everything that is wrong.
func assemble(sources []*source, o *options) (*Result, error) {
	l := loader{options: o, result: &Result{places: map[string]*node{}, sections: map[string]any{}, options: o}}
	for _, s := range sources {
		l.result.Files = append(l.result.Files, s.name)
		l.file(s)
	}
	l.result.Hash = hashOf(sources)
	l.finish(sources[0].name)
	l.compile()
	if o.runTests && len(l.problems) == 0 {
		for _, t := range RunTests(l.result) {
			l.problems = append(l.problems, t.Failures...)
		}
	}
	if len(l.problems) > 0 {
		l.problems.sort()
		return nil, l.problems
	}
	l.result.Warnings.sort()
	return l.result, nil
}

// compile checks the rules as a whole and makes the set.
func (l *loader) compile() {
	set, findings := rule.Examine(l.result.Config, l.options.forRules(l.options.conditions)...)
	for _, f := range findings {
		switch {
		case l.known(f):
		case f.Warning:
			l.result.Warnings = append(l.result.Warnings, l.finding(f))
		default:
			l.problems = append(l.problems, l.finding(f))
		}
	}
	l.result.Set = set
}

// hashOf tells contents apart.
func hashOf(sources []*source) string {
	h := sha256.New()
	for _, s := range sources {
		fmt.Fprintf(h, "%d %d %s", len(s.name), len(s.data), s.name)
		h.Write(s.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
