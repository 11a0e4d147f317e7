package rulefile

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// A hint says what to write instead. What it says must not be the next mistake.

// emptyHint helps with a field that has no value.
func emptyHint(path string) string {
	switch path {
	case "limits":
		return "give at least one: [100/s]"
	case "name":
		return "give every rule a name of its own"
	case "rules":
		return `write "rules: []" if none is meant`
	}
	return "give it one, or leave it out"
}

// aliasHint helps with a star that YAML takes for an alias.
func aliasHint(name string) string {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return fmt.Sprintf("put it into quotes: %q", "*"+name)
	}
	return fmt.Sprintf("write &%s before the first value, or put the text into quotes: %q", name, "*"+name)
}

// twiceHint helps with a field that is set twice: a second name begins another rule.
func twiceHint(name string) string {
	if name == "name" {
		return `keep one of the two; a new rule begins with a dash: "- name: api"`
	}
	return "keep one of the two"
}

// dashHint is for rules that are not written as a list.
const dashHint = `begin every rule with a dash: "- name: api"`

// listHint helps with what is no list but has to be one of elements.
func listHint(n *node, element reflect.Type) string {
	limits := element == reflect.TypeFor[rule.Limit]()
	switch {
	case n.kind == numberKind && limits:
		return fmt.Sprintf("say per what, in a list: [%s/s]", n.text)
	case n.kind != mapKind:
		return fmt.Sprintf("write [%s]", n.text)
	case element == reflect.TypeFor[rule.Rule]():
		return dashHint
	case element == reflect.TypeFor[rule.Override]():
		return overrideHint(n)
	case limits:
		return "write limits as a list: [100/s]"
	case element.Kind() == reflect.String && len(n.fields) == 1:
		return fmt.Sprintf("write [%q]", n.fields[0].name+":"+n.fields[0].value.text)
	}
	return "begin every entry with a dash"
}

// overrideHint helps with limits that are written by key: {gold: 2/s}.
func overrideHint(n *node) string {
	if len(n.fields) == 0 {
		return ""
	}
	f := n.fields[0]
	if n.get("keys") != nil || f.value.kind != textKind {
		return "write - {keys: [gold], limits: [2/s]}"
	}
	return fmt.Sprintf("write - {keys: [%s], limits: [%s]}", f.name, f.value.text)
}

// mapHint helps with what is no map but has to be one for a type.
func mapHint(n *node, t reflect.Type) string {
	if t == reflect.TypeFor[rule.Rule]() && n.kind == textKind {
		return fmt.Sprintf("write its fields: {name: %s, limits: [100/s]}", n.text)
	}
	return ""
}

// quoteHint says how to make text of what YAML takes for something else.
func quoteHint(n *node) string {
	switch n.kind {
	case numberKind, boolKind:
		return fmt.Sprintf("put it into quotes: %q", n.text)
	case mapKind:
		return colonHint(n)
	}
	return ""
}

// colonHint helps with a text that YAML takes for a map since there is a colon in it.
func colonHint(n *node) string {
	word := n.src.word(n.line, n.column)
	before, after, colon := strings.Cut(word, "/:")
	switch {
	case colon && strings.HasPrefix(word, "/"):
		variable, rest, more := strings.Cut(after, "/")
		if more {
			rest = "/" + rest
		}
		return fmt.Sprintf("write variables in braces and the text in quotes: %q", before+"/{"+variable+"}"+rest)
	case strings.Contains(strings.TrimSuffix(word, ":"), ":"):
		return fmt.Sprintf("put it into quotes: %q", word)
	case len(n.fields) == 1 && n.fields[0].value.kind <= textKind && n.fields[0].value.text != "":
		return fmt.Sprintf("write %q, in quotes and without a blank", n.fields[0].name+":"+n.fields[0].value.text)
	}
	return ""
}

// looksLikePattern reports whether a path was meant as a regular expression.
func looksLikePattern(path string) bool {
	has := func(part string) bool { return strings.Contains(path, part) }
	return strings.HasPrefix(path, "^") || has(".*") || has(".+") || has(`\d`) || has(`\w`) || strings.ContainsAny(path, "$(|")
}

// patternHint says how to write what a regular expression in place of a path means.
func patternHint(pattern string) string {
	path := strings.TrimPrefix(pattern, "^")
	if end := strings.IndexAny(path, `.\$(+|[?*`); end >= 0 {
		path = path[:strings.LastIndex(path[:end], "/")+1] + "*"
	}
	if !strings.HasPrefix(path, "/") {
		path = "a path such as /api/*"
	}
	return fmt.Sprintf("paths are no patterns: write %s, or use when: path matches %q", path, pattern)
}

func unquoteHint(n *node) string {
	if n.kind == textKind {
		return "write the number alone, without quotes and units"
	}
	return ""
}

// shareHint helps with a share that is a number: 10, or 0.1.
func shareHint(n *node) string {
	share, err := strconv.ParseFloat(n.text, 64)
	if err != nil || share <= 0 || share > 1 {
		return "write " + n.text + "%"
	}
	words := map[float64]string{0.01: "a hundredth", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half of them", 1: "all"}
	word, ok := words[share]
	if !ok {
		word = "such a share"
	}
	return fmt.Sprintf("write %s%% for %s, or %s%%", strconv.FormatFloat(share*100, 'g', 6, 64), word, n.text)
}

// limitOfFields makes a limit's text of fields such as {requests: 10, period: 1m}.
func (n *node) limitOfFields() string {
	first := func(fallback string, names ...string) string {
		for _, name := range names {
			if v := n.get(name); v != nil && v.text != "" {
				return v.text
			}
		}
		return fallback
	}
	period := first("s", "period", "per", "interval", "window", "unit")
	if one := strings.TrimPrefix(period, "1"); one != "" && (one[0] < '0' || one[0] > '9') {
		period = one
	} else if _, err := strconv.Atoi(period); err == nil {
		period += "s"
	}
	text := first("10", "requests", "count", "amount", "rate") + "/" + period
	if burst := first("", "burst"); burst != "" {
		text += " burst=" + burst
	}
	return text
}
