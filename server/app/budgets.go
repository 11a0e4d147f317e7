package app

import (
	"fmt"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
)

// mostRules is how many rules an entry about budgets names.
const mostRules = 20

// Note remembers that somebody has reset or refunded the budgets of a request, or tried
// to. source says who, action what. Keys are shown as in the log of decisions.
func (a *App) Note(source, action string, r engine.Request, failed error) {
	e := audit.Entry{Time: now(), Source: source, Action: action, Hash: a.rules.version().Hash}
	if failed != nil {
		e.Error = told(failed)
	}
	var found rule.Matches
	a.engine.Set().Match(&r, &found)
	for i := range found.Hits {
		hit := &found.Hits[i]
		if i == mostRules {
			e.Lines = append(e.Lines, fmt.Sprintf("and %d rules more", len(found.Hits)-i))
			break
		}
		line := "rule " + hit.Rule.Name
		if len(hit.Rule.Key) > 0 && len(hit.Key) > 0 {
			if key := a.keys.text(string(hit.Key)); key != "" {
				line += ", key " + key
			}
		}
		e.Lines = append(e.Lines, line)
	}
	a.audit.AddBudget(e)
}
