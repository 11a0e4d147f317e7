package rulefile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-limiter/sluice"
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
		if f.Type.Kind() != reflect.Struct || f.Type == reflect.TypeFor[sluice.Limit]() { // that is text
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

// aliases are what people call limits.
var aliases = []string{"limits", "limit", "rates", "rate"}

// ofLimits are names of what is a part of a limit's text.
var ofLimits = []string{
	"burst", "algorithm", "period", "max_wait", "refill", "zone",
	"requests", "count", "amount", "per", "interval", "window", "unit",
}

// meant returns the field that a wrong name was meant to be, or "".
func (s *fieldSet) meant(wrong string) string {
	if slices.Contains(aliases, wrong) {
		for _, name := range aliases {
			if s.index[name] != nil {
				return name
			}
		}
	}
	return nearestName(wrong, s.names)
}

// hint helps with a name that the struct does not have.
func (s *fieldSet) hint(wrong string) string {
	if above, ok := s.below[wrong]; ok {
		return fmt.Sprintf("it belongs under %q", above)
	}
	if above, ok := s.below[wrong+"s"]; ok && s.index[wrong+"s"] == nil {
		return fmt.Sprintf("it belongs under %q: %s: {%ss: […]}", above, above, wrong)
	}
	if slices.Contains(ofLimits, wrong) && s.index["limits"] != nil {
		return `it is part of a limit's text: "100/s burst=200"`
	}
	if meant := s.meant(wrong); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "use " + oneOf(s.names)
}
