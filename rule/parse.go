package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice"
)

// ParseJSON reads a configuration. It is strict: a field that is unknown or there
// twice is an error. The error is of type Findings and holds all that was found; it
// says where, and what to write instead. Compile checks what the fields say.
func ParseJSON(data []byte) (Config, error) {
	p := &parser{}
	var config Config
	if !json.Valid(data) {
		p.broken(data, "", json.Unmarshal(data, new(any)))
	} else {
		p.value(data, reflect.ValueOf(&config).Elem(), "")
	}
	p.nameRules(config)
	if err := p.findings.Err(); err != nil {
		return Config{}, err
	}
	return config, nil
}

// parser reads JSON into Go values and collects what is wrong.
type parser struct{ findings Findings }

// fault reports what is wrong at a place such as rules[2].limits[0].scope.
func (p *parser) fault(path, hint, reason string, args ...any) {
	f := Finding{Index: -1, Field: path, Hint: hint, Reason: fmt.Sprintf(reason, args...)}
	if rest, ok := strings.CutPrefix(path, "rules["); ok {
		number, field, _ := strings.Cut(rest, "]")
		f.Index, _ = strconv.Atoi(number)
		f.Field = strings.TrimPrefix(field, ".")
	}
	p.findings = append(p.findings, f)
}

// broken reports what is no JSON, and where.
func (p *parser) broken(data []byte, path string, err error) {
	place := ""
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		read := data[:min(max(syntax.Offset-1, 0), int64(len(data)))]
		place = fmt.Sprintf("line %d, column %d: ", 1+bytes.Count(read, []byte("\n")), len(read)-bytes.LastIndexByte(read, '\n'))
	}
	p.fault(path, "look there for a comma, quote or bracket too many or too few", "%s%v", place, err)
}

// nameRules adds the names of rules, as far as they could be read.
func (p *parser) nameRules(config Config) {
	for i := range p.findings {
		if f := &p.findings[i]; f.Index >= 0 && f.Index < len(config.Rules) {
			f.Rule = config.Rules[f.Index].Name
		}
	}
}

// value reads valid JSON into v, which is at path.
func (p *parser) value(data []byte, v reflect.Value, path string) {
	data = bytes.TrimSpace(data)
	object := data[0] == '{'
	switch {
	case string(data) == "null" && v.Kind() == reflect.Slice: // how Go writes no list
	case string(data) == "null":
		p.fault(path, "leave the field out", "null says nothing")
	case object && v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[sluice.Limit]():
		p.object(data, v, path)
	case object && v.Kind() == reflect.Map:
		p.entries(data, v, path)
	case data[0] == '[' && v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[KeyValues]():
		p.list(data, v, path)
	default:
		p.leaf(data, v, path)
	}
}

func (p *parser) leaf(data []byte, v reflect.Value, path string) {
	to := v.Addr().Interface()
	if l, ok := to.(*sluice.Limit); ok {
		to = (*limitText)(l)
	}
	err := json.Unmarshal(data, to)
	var limit *sluice.LimitError
	var read *readError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &limit):
		p.fault(path, limitHint(limit), "%q: %s: %s", limit.Limit, limit.Field, limit.Reason)
	case errors.As(err, &read):
		p.fault(path, read.hint, "%s", read.reason)
	case errors.As(err, &mismatch):
		p.fault(path, "write "+wanted(v), "a %s does not fit here", mismatch.Value)
	default:
		p.fault(path, "write "+wanted(v), "%v", err)
	}
}

// wanted says in words what a value has to be.
func wanted(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	}
	return "a text"
}

// object reads the fields of a struct.
func (p *parser) object(data []byte, v reflect.Value, path string) {
	names := fieldNames(v.Type())
	for name, raw := range p.members(data, path) {
		i := slices.Index(names, name)
		if i < 0 {
			p.fault(join(path, name), suggest(name, names...), "unknown field")
			continue
		}
		p.value(raw, v.Field(i), join(path, name))
		if v.Type() == reflect.TypeFor[Cost]() && string(raw) == "0" {
			p.noCost(join(path, name), name)
		}
	}
}

// noCost reports a field of a cost that is written as 0.
func (p *parser) noCost(path, name string) {
	if name == "fixed" {
		p.fault(path, errNoCost.hint, "%s", errNoCost.reason)
		return
	}
	p.fault(path, "give 1 or more, or leave it out", "0 does nothing")
}

// entries reads a map.
func (p *parser) entries(data []byte, v reflect.Value, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	for name, raw := range p.members(data, path) {
		entry := reflect.New(v.Type().Elem()).Elem()
		p.value(raw, entry, join(path, name))
		v.SetMapIndex(reflect.ValueOf(name), entry)
	}
}

// list reads a slice.
func (p *parser) list(data []byte, v reflect.Value, path string) {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		p.broken(data, path, err)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(raws), len(raws)))
	for i, raw := range raws {
		p.value(raw, v.Index(i), at(path, i))
	}
}

// members yields the names and values of an object, and reports those that are there
// twice.
func (p *parser) members(data []byte, path string) func(func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(data))
		seen := map[string]bool{}
		if _, err := d.Token(); err != nil {
			return
		}
		for d.More() {
			token, err := d.Token()
			name, _ := token.(string)
			var raw json.RawMessage
			if err == nil {
				err = d.Decode(&raw)
			}
			if err != nil && !errors.Is(err, io.EOF) {
				p.broken(data, path, err)
				return
			}
			if seen[name] {
				p.fault(join(path, name), "leave one out", "there twice")
				continue
			}
			seen[name] = true
			if !yield(name, raw) {
				return
			}
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldNames returns the names of a struct's fields in JSON.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}
