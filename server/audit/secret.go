package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-limiter/sluice/rule"
)

// The lines of a diff go to logs, files and streams of events. A header or attribute that
// is matched may hold a shared secret, so may a text in a condition, and a key may be
// somebody's API key: of these the lines tell that they changed, never what they are.

// turned says what happened to a text that is not shown.
func turned(before, after string) string {
	switch {
	case before == "":
		return "added"
	case after == "":
		return "removed"
	}
	return "changed"
}

// diffValues compares headers or attributes by name.
func diffValues(before, after map[string]string, field string, say func(string)) {
	names := maps.Clone(after)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, before)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		switch {
		case !had:
			say(field + " " + name + ": added")
		case !has:
			say(field + " " + name + ": removed")
		case was != is:
			say(field + " " + name + ": value changed")
		}
	}
}

// open returns what may be shown of a value: how many keys there are, instead of keys.
func open(v any) any {
	switch v := v.(type) {
	case []rule.KeyValues:
		return countKeys(v)
	case []rule.Override:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = countKeys(v[i].Keys) + " with " + show(v[i].Limits)
		}
		return texts
	}
	return v
}

func countKeys(keys []rule.KeyValues) string {
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return "1 key"
	}
	return fmt.Sprintf("%d keys", len(keys))
}
