package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/sluice-limiter/sluice/rule"
)

// Diff says in words what changes from one rule set to another, one line for each
// field: "rule login: limit 5/m → 10/m". A field that is left out and one that is set
// to its default are the same. It is empty if nothing changes. Values of headers and
// attributes, keys and conditions are never shown: they may be secrets, or hold some.
func Diff(before, after rule.Config) []string {
	var lines []string
	say := func(what string) { lines = append(lines, what) }
	diffFields(settled(before), settled(after), "", say)
	old := byName(before.Rules)
	kept := make([]string, 0, len(after.Rules)) // in the new order
	seen := map[string]bool{}
	for i := range after.Rules {
		r := withDefaults(after.Rules[i])
		seen[r.Name] = true
		was, known := old[r.Name]
		if !known {
			say(fmt.Sprintf("rule %s: added, %s", r.Name, summary(&r)))
			continue
		}
		kept = append(kept, r.Name)
		diffRule(&was, &r, say)
	}
	order := make([]string, 0, len(kept)) // in the old order
	for i := range before.Rules {
		if name := before.Rules[i].Name; seen[name] {
			order = append(order, name)
		} else {
			say(fmt.Sprintf("rule %s: removed", name))
		}
	}
	if !reflect.DeepEqual(order, kept) {
		say("rules: order " + show(order) + " → " + show(kept))
	}
	return lines
}

func byName(rules []rule.Rule) map[string]rule.Rule {
	named := make(map[string]rule.Rule, len(rules))
	for _, r := range rules {
		named[r.Name] = withDefaults(r)
	}
	return named
}

// settled returns what a configuration says besides its rules.
func settled(c rule.Config) any {
	s := struct {
		Default rule.Default `json:"default"`
		Paths   rule.Paths   `json:"paths"`
	}{c.Default, c.Paths}
	if s.Default == "" {
		s.Default = rule.Allow
	}
	if s.Paths.Ambiguous == "" {
		s.Paths.Ambiguous = "reject"
	}
	return s
}

// withDefaults fills in what an empty field means.
func withDefaults(r rule.Rule) rule.Rule {
	fill(&r.Missing, rule.MissingSkip)
	fill(&r.Scope, rule.Cluster)
	fill(&r.OnStoreError, rule.ErrorLocal)
	fill(&r.Mode, rule.Enforce)
	fill(&r.Rollout, "100%")
	if reflect.ValueOf(r.Cost).IsZero() {
		r.Cost.Fixed = 1
	}
	return r
}

func fill[T ~string](field *T, meaning T) {
	if *field == "" {
		*field = meaning
	}
}

// diffRule compares two rules of the same name.
func diffRule(before, after *rule.Rule, say func(string)) {
	prefix := "rule " + after.Name + ": "
	limits(before.Limits, after.Limits, "limit", prefix, say)
	limits(before.Candidate, after.Candidate, "candidate", prefix, say)
	b, a := *before, *after
	b.Limits, a.Limits, b.Candidate, a.Candidate = nil, nil, nil, nil
	diffFields(b, a, prefix, say)
}

// limits compares two lists of limits: one by one if there are as many as before.
func limits(before, after []rule.Limit, word, prefix string, say func(string)) {
	if len(before) == 0 && len(after) == 0 {
		return
	}
	if len(before) == len(after) {
		for i := range after {
			if before[i] != after[i] {
				say(prefix + word + " " + show(before[i]) + " → " + show(after[i]))
			}
		}
		return
	}
	say(prefix + word + "s " + show(before) + " → " + show(after))
}

// diffFields compares two structs of one type field by field, by their JSON.
func diffFields(before, after any, prefix string, say func(string)) {
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		was, is := b.Field(i), a.Field(i)
		if empty(was) && empty(is) || reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if nested(is.Interface()) {
			diffFields(was.Interface(), is.Interface(), prefix+name+".", say)
			continue
		}
		if values, ok := is.Interface().(map[string]string); ok {
			diffValues(was.Interface().(map[string]string), values, prefix+name, say)
			continue
		}
		if name == "when" {
			say(prefix + name + ": " + turned(was.String(), is.String()))
			continue
		}
		from, to := show(open(was.Interface())), show(open(is.Interface()))
		if from == to { // what differs was cut off
			say(prefix + name + " changed: " + to)
			continue
		}
		say(prefix + name + " " + from + " → " + to)
	}
}

// nested reports whether the fields of a value are told one by one.
func nested(v any) bool {
	switch v.(type) {
	case rule.Match, rule.Skip, rule.Paths:
		return true
	}
	return false
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

// summary says what a new rule is.
func summary(r *rule.Rule) string {
	text := "limits " + show(r.Limits)
	if len(r.Key) > 0 {
		text += " by " + show(r.Key)
	}
	if r.Mode != rule.Enforce {
		text += ", mode " + string(r.Mode)
	}
	return text
}

// maxShown bounds how much of a value is shown, in bytes.
const maxShown = 200

// show writes a value in a form that is short and good to read: JSON without the
// quotes that nobody needs.
func show(v any) string {
	if d, ok := v.(rule.Duration); ok && d == 0 {
		return "none"
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	text := plain(strings.TrimSuffix(b.String(), "\n"))
	if len(text) > maxShown {
		cut := maxShown
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return text
}

// plain takes the quotes from a JSON text, or from a list of texts, that holds nothing
// that would be ambiguous without.
func plain(text string) string {
	switch {
	case text == "null", text == `""`, text == "[]", text == "{}":
		return "none"
	case !strings.ContainsAny(text, `\{},[]`) && strings.Count(text, `"`) == 2 && strings.HasPrefix(text, `"`):
		return strings.Trim(text, `"`)
	case strings.HasPrefix(text, `["`) && !strings.ContainsAny(text, `\{}`) && strings.Count(text, "[") == 1:
		return strings.ReplaceAll(strings.ReplaceAll(strings.Trim(text, "[]"), `","`, ", "), `"`, "")
	}
	return text
}
