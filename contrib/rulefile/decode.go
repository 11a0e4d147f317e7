package rulefile

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxProblems bounds how many problems are collected.
const maxProblems = 1000

// decoder fills Go values from nodes by their json tags and notes everything that
// does not fit. Maps and slices are always made anew.
type decoder struct {
	problems Problems
	fields   []string // the path of each problem, and of what the reader found before
}

func (d *decoder) fail(n *node, path, reason, hint string) {
	if len(d.problems) >= maxProblems {
		return
	}
	p := n.problem(reason, hint)
	p.Field = path
	d.problems = append(d.problems, p)
	d.fields = append(d.fields, path)
}

// wrongKind says what was expected instead.
func (d *decoder) wrongKind(n *node, path, want, hint string) {
	d.fail(n, path, fmt.Sprintf("%s has to be %s, not %s", nameOf(path), want, kindNames[n.kind]), hint)
}

// nameOf makes a path readable in a sentence.
func nameOf(path string) string {
	if path == "" {
		return "a rule"
	}
	return strconv.Quote(path)
}

// value fills v, which must be settable.
func (d *decoder) value(n *node, v reflect.Value, path string) {
	if n.broken {
		d.fields = append(d.fields, path)
		if n.kind == nullKind {
			return
		}
	}
	if n.kind == nullKind {
		d.fail(n, path, nameOf(path)+" has no value", emptyHint(path))
		return
	}
	if special, ok := specials[v.Type()]; ok {
		special(d, n, v, path)
		return
	}
	if v.CanAddr() && d.byItself(n, v.Addr().Interface(), path) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Interface:
		v.Set(reflect.ValueOf(n.plain()))
	default:
		d.scalar(n, v, path)
	}
}

// byItself lets types read themselves: from text, or from JSON.
func (d *decoder) byItself(n *node, target any, path string) bool {
	switch target := target.(type) {
	case json.Unmarshaler:
		data, err := json.Marshal(n.plain())
		if err == nil {
			err = target.UnmarshalJSON(data)
		}
		if err != nil {
			d.fail(n, path, err.Error(), "")
		}
	case encoding.TextUnmarshaler:
		if n.kind != textKind {
			d.wrongKind(n, path, "text", quoteHint(n))
		} else if err := target.UnmarshalText([]byte(n.text)); err != nil {
			d.fail(n, path, err.Error(), "")
		}
	default:
		return false
	}
	return true
}

func (d *decoder) structure(n *node, v reflect.Value, path string) {
	if n.kind != mapKind {
		d.wrongKind(n, path, "a map", mapHint(n, v.Type()))
		return
	}
	known := fieldsOf(v.Type())
	for _, f := range n.fields {
		at, ok := known.index[f.name]
		if !ok {
			d.unknown(n, f, known, path)
			continue
		}
		d.value(f.value, v.FieldByIndex(at), join(path, f.name))
	}
}

// unknown refuses a field that the struct does not have. Nothing else is told of the one
// that was meant.
func (d *decoder) unknown(n *node, f field, known *fieldSet, path string) {
	hint := known.hint(f.name)
	if slices.Contains(ofLimits, f.name) && known.index["limit"] != nil {
		hint = "it is part of the limit's text: limit: " + n.limitOfFields()
		d.fields = append(d.fields, join(path, "limit"))
	}
	place := &node{src: n.src, line: f.line, column: f.column}
	d.fail(place, join(path, f.name), fmt.Sprintf("unknown field %q", f.name), hint)
	if meant := known.meant(f.name); meant != "" {
		d.fields = append(d.fields, join(path, meant))
	}
}

func (d *decoder) list(n *node, v reflect.Value, path string) {
	if n.kind != listKind {
		d.wrongKind(n, path, "a list", listHint(n, v.Type().Elem()))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *decoder) mapping(n *node, v reflect.Value, path string) {
	if n.kind != mapKind {
		d.wrongKind(n, path, "a map", "")
		return
	}
	if v.Type().Key().Kind() != reflect.String {
		d.fail(n, path, "a map by "+v.Type().Key().String()+" cannot be read", "")
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.fields)))
	for _, f := range n.fields {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(f.value, value, join(path, f.name))
		v.SetMapIndex(reflect.ValueOf(f.name).Convert(v.Type().Key()), value)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// plain returns the node as what encoding/json would make of it.
func (n *node) plain() any {
	switch n.kind {
	case boolKind:
		return n.text == "true"
	case numberKind:
		if i, ok := n.integer(); ok {
			return i
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
		if err != nil {
			return n.text
		}
		return f
	case textKind:
		return n.text
	case listKind:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.plain()
		}
		return list
	case mapKind:
		object := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			object[f.name] = f.value.plain()
		}
		return object
	}
	return nil
}
