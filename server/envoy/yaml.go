package envoy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// file is one file while it is read. The reader of rule files does the work: it is
// guarded against hostile YAML and knows the place of everything.
type file struct {
	name     string
	data     []byte
	read     *rulefile.Result
	problems rulefile.Problems
}

// noRules is what a rule file must have and a file of descriptors has not.
const noRules = "rules: []"

// open reads the YAML of a file.
func open(name string, data []byte) (*file, error) {
	text := withRules(data)
	read, err := rulefile.Parse(name, text, rulefile.Section("domain", nil), rulefile.Section("descriptors", nil), rulefile.MergeKeys())
	if err != nil {
		return nil, err
	}
	f := &file{name: name, data: data, read: read}
	if c := read.Config; c.Default != "" || c.Paths.Ambiguous != "" || c.Paths.FoldCase || len(read.Tests) > 0 {
		f.fault("domain", "", "default, paths and tests are of rule files", "keep them in a file for --config")
	}
	return f, nil
}

// withRules makes a rule file without rules of data. Places stay where they are.
func withRules(data []byte) []byte {
	trimmed := bytes.TrimSpace(data)
	if inner, ok := bytes.CutSuffix(trimmed, []byte("}")); ok && bytes.HasPrefix(trimmed, []byte("{")) {
		before := data[:bytes.LastIndexByte(data, '}')]
		if len(bytes.TrimSpace(inner)) > 1 {
			before = append(bytes.Clone(before), ", "...)
		}
		return append(append(bytes.Clone(before), noRules...), '}')
	}
	return append(bytes.Clone(data), "\n"+noRules+"\n"...)
}

// fault reports what is wrong at a place such as descriptors[2].rate_limit.
func (f *file) fault(section, field, reason, hint string) {
	f.problems = append(f.problems, f.read.At(section, field, reason, hint))
}

// raw returns a scalar as it is written: for numbers, whose value would not tell 7 from
// 007.
func (f *file) raw(section, field string) string {
	place := f.read.At(section, field, "", "")
	lines := bytes.Split(f.data, []byte("\n"))
	if place.Line < 1 || place.Line > len(lines) {
		return ""
	}
	runes := []rune(string(lines[place.Line-1]))
	text := string(runes[min(max(place.Column-1, 0), len(runes)):])
	if end := strings.IndexAny(text, " \t\r,}]#"); end >= 0 {
		text = text[:end]
	}
	return text
}

// object is a map of the file with its place.
type object struct {
	file  *file
	path  string // below the section descriptors
	value map[string]any
}

// at returns the place of a field.
func (o *object) at(field string) string {
	if field == "" {
		return o.path
	}
	return o.path + "." + field
}

func (o *object) fault(field, reason, hint string) {
	o.file.fault("descriptors", o.at(field), reason, hint)
}

// only reports fields that are not known.
func (o *object) only(known ...string) {
	for _, name := range slices.Sorted(maps.Keys(o.value)) {
		if !slices.Contains(known, name) {
			o.fault(name, fmt.Sprintf("unknown field %q", name), "there are "+strings.Join(known, ", "))
		}
	}
}

// text returns a field that is text; a number or a truth value is taken as it is written.
func (o *object) text(field string) string {
	switch v := o.value[field].(type) {
	case nil:
		return ""
	case string:
		return v
	case bool, int, int64, uint64:
		return o.file.raw("descriptors", o.at(field))
	case float64:
		o.fault(field, "a number with a fraction does not fit here", "put it into quotes to make it text")
	default:
		o.fault(field, field+" has to be text", "write one value")
	}
	return ""
}

func (o *object) truth(field string) bool {
	switch v := o.value[field].(type) {
	case nil:
		return false
	case bool:
		return v
	}
	o.fault(field, field+" is neither true nor false", "write true, or leave it out")
	return false
}

// object returns a field that is a map, nil if there is none.
func (o *object) object(field string) *object {
	switch v := o.value[field].(type) {
	case nil:
		return nil
	case map[string]any:
		return &object{o.file, o.at(field), v}
	}
	o.fault(field, field+" has to be a map", "")
	return nil
}

// list returns a field that is a list of maps.
func (o *object) list(field string) []*object {
	return o.file.objects(o.value[field], o.at(field), field)
}

// objects returns a value that is a list of maps.
func (f *file) objects(value any, path, name string) (all []*object) {
	if value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		f.fault("descriptors", path, name+" has to be a list", "begin every entry with a dash")
		return nil
	}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		m, ok := v.(map[string]any)
		if !ok {
			f.fault("descriptors", at, "an entry of "+name+" has to be a map", "")
			continue
		}
		all = append(all, &object{f, at, m})
	}
	return all
}
