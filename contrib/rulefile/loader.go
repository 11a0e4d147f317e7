package rulefile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/sluice-limiter/sluice/rule"
)

// loader puts files together.
type loader struct {
	options  *options
	result   *Result
	problems Problems

	once     map[string]*node // fields that only one file may set
	rules    []origin         // of Config.Rules, by number
	names    map[string]*node // where each rule's name is
	requests int              // that the tests send
}

// origin is where a rule comes from, and which of its fields are known to be wrong.
type origin struct {
	node  *node
	wrong []string
}

// file adds one file.
func (l *loader) file(s *source) {
	s.mergeKeys = l.options.mergeKeys
	root, problems := s.read()
	l.problems = append(l.problems, problems...)
	if root == nil {
		return
	}
	if root.kind != mapKind {
		l.problems = append(l.problems, root.problem(fmt.Sprintf("a rule file has to be a map, not %s", kindNames[root.kind]), `begin with "rules:"`))
		return
	}
	for _, f := range root.fields {
		l.field(root, f)
	}
}

// topLevel are the fields of a file, beside sections.
var topLevel = []string{"rules", "default", "paths", "tests"}

// field adds one top-level field.
func (l *loader) field(root *node, f field) {
	switch f.name {
	case "rules":
		l.setRules(f.value)
	case "tests":
		l.setTests(f.value)
	case "default":
		l.single(f, &l.result.Config.Default)
	case "paths":
		l.single(f, &l.result.Config.Paths)
	default:
		if _, foreign := l.options.sections[f.name]; foreign {
			l.section(f)
			return
		}
		hint := suggest(f.name, l.sectionNames())
		if fieldsOf(reflect.TypeFor[rule.Rule]()).index[f.name] != nil {
			hint = `it belongs to a rule: indent it below "rules:"`
		}
		l.problems = append(l.problems, root.src.at(f.line, f.column, fmt.Sprintf("unknown section %q", f.name), hint))
	}
}

// single reads a field that only one of the files may have.
func (l *loader) single(f field, target any) {
	if l.once == nil {
		l.once = map[string]*node{}
	}
	if first := l.once[f.name]; first != nil {
		l.problems = append(l.problems, f.value.src.at(f.line, f.column,
			fmt.Sprintf("%q is set twice: also at %s:%d:%d", f.name, first.src.name, first.line, first.column), "keep it in one file"))
		return
	}
	l.once[f.name] = f.value
	var d decoder
	d.value(f.value, reflect.ValueOf(target).Elem(), f.name)
	l.problems = append(l.problems, d.problems...)
}

// section reads a foreign section over a copy of its defaults.
func (l *loader) section(f field) {
	value := reflect.New(reflect.TypeFor[any]())
	if defaults := l.options.sections[f.name]; defaults != nil {
		value = reflect.New(reflect.TypeOf(defaults))
		value.Elem().Set(reflect.ValueOf(defaults))
	}
	l.single(f, value.Interface())
	l.result.places[f.name] = f.value
	l.result.sections[f.name] = value.Elem().Interface()
}

// setRules adds the rules of one file.
func (l *loader) setRules(list *node) {
	if l.names == nil {
		l.names = map[string]*node{}
	}
	if list.kind != listKind {
		var d decoder
		d.value(list, reflect.New(reflect.TypeFor[[]rule.Rule]()).Elem(), "rules")
		l.problems = append(l.problems, d.problems...)
		return
	}
	for _, n := range list.items {
		var d decoder
		var r rule.Rule
		d.value(n, reflect.ValueOf(&r).Elem(), "")
		l.unique(&d, n, r.Name)
		for _, p := range d.problems {
			p.Rule = r.Name
			l.problems = append(l.problems, p)
		}
		l.rules = append(l.rules, origin{node: n, wrong: d.fields})
		l.result.Config.Rules = append(l.result.Config.Rules, r)
	}
	if l.result.Config.Rules == nil {
		l.result.Config.Rules = []rule.Rule{}
	}
}

// unique refuses a name that another rule has.
func (l *loader) unique(d *decoder, n *node, name string) {
	if name == "" {
		return
	}
	at := n.find("name")
	if first := l.names[name]; first != nil {
		d.fail(at, "name", fmt.Sprintf("the name %q is taken by the rule at %s:%d:%d", name, first.src.name, first.line, first.column), "choose another one")
		return
	}
	l.names[name] = at
}

// finish checks what can be told only after the last file.
func (l *loader) finish(name string) {
	if l.result.Config.Rules == nil && len(l.problems) == 0 {
		l.problems = append(l.problems, Problem{File: name, Reason: `there is no section "rules"`, Hint: `write "rules: []" if none is meant`})
	}
	for section, defaults := range l.options.sections {
		if _, set := l.result.sections[section]; !set {
			l.result.sections[section] = defaults
		}
	}
}

// sectionNames lists what a file may have.
func (l *loader) sectionNames() []string {
	return append(slices.Clone(topLevel), slices.Sorted(maps.Keys(l.options.sections))...)
}
