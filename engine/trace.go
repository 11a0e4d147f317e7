package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// tellSwap writes to the log what a change of the rules changed.
func (e *Engine) tellSwap(before, after *rule.Set) {
	if !e.logger.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	attrs := []any{"rules", len(after.Rules())}
	was, is := before.Config(), after.Config()
	if now := cmp.Or(is.Default, rule.Allow); now != cmp.Or(was.Default, rule.Allow) {
		attrs = append(attrs, "default", now)
	}
	if was.Paths != is.Paths {
		attrs = append(attrs, "paths", "changed")
	}
	added, removed, changed := compare(before.Rules(), after.Rules())
	for _, list := range []struct {
		name  string
		rules []string
	}{{"added", added}, {"removed", removed}, {"changed", changed}} {
		if len(list.rules) > 0 {
			attrs = append(attrs, list.name, inShort(list.rules))
		}
	}
	e.logger.Info("sluice: the rules were swapped", attrs...)
}

// compare returns the names of the rules that differ. The order of rules is no
// difference: a request has to pass all that it matches.
func compare(before, after []*rule.Compiled) (added, removed, changed []string) {
	was := make(map[string]*rule.Compiled, len(before))
	for _, r := range before {
		was[r.Name] = r
	}
	for _, r := range after {
		if old := was[r.Name]; old == nil {
			added = append(added, r.Name)
		} else if !reflect.DeepEqual(old.Rule, r.Rule) {
			changed = append(changed, r.Name)
		}
		delete(was, r.Name)
	}
	for _, r := range before {
		if was[r.Name] != nil {
			removed = append(removed, r.Name)
		}
	}
	return added, removed, changed
}

// mostNamed is how many rules a line of the log names.
const mostNamed = 20

// inShort lists names, the first of many.
func inShort(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// tellShadow writes to the log that the switch was turned.
func (e *Engine) tellShadow(on bool) {
	if on {
		e.logger.Info("sluice: every rule is turned to shadow, nothing is refused")
	} else {
		e.logger.Info("sluice: the rules are enforced again")
	}
}
