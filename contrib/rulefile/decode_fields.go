package rulefile

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// fieldSet is what a struct has.
type fieldSet struct {
	index map[string][]int
	names []string          // in the order of the struct
	below map[string]string // names of fields one level deeper, and where that is
}

var fieldSets sync.Map // reflect.Type → *fieldSet

// fieldsOf returns the fields of a struct by the names of their json tags.
func fieldsOf(t reflect.Type) *fieldSet {
	if known, ok := fieldSets.Load(t); ok {
		return known.(*fieldSet)
	}
	set := &fieldSet{index: map[string][]int{}, below: map[string]string{}}
	for _, f := range reflect.VisibleFields(t) {
		name := jsonName(f)
		if name == "" {
			continue
		}
		set.index[name] = f.Index
		set.names = append(set.names, name)
		if f.Type.Kind() != reflect.Struct {
			continue
		}
		for _, deeper := range reflect.VisibleFields(f.Type) {
			if inner := jsonName(deeper); inner != "" {
				set.below[inner] = name
			}
		}
	}
	fieldSets.Store(t, set)
	return set
}

// jsonName returns the name of a field in files, or "" if it is in none.
func jsonName(f reflect.StructField) string {
	tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || tag == "-" || f.Anonymous && tag == "":
		return ""
	case tag == "":
		return strings.ToLower(f.Name)
	}
	return tag
}

// hint helps with a name that the struct does not have.
func (s *fieldSet) hint(wrong string) string {
	if above, ok := s.below[wrong]; ok {
		return fmt.Sprintf("it belongs under %q", above)
	}
	switch wrong {
	case "burst", "algorithm", "period", "max_wait", "refill", "zone":
		return `it is part of a limit's text: "100/s burst=200"`
	}
	return suggest(wrong, s.names)
}
