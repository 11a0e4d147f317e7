package rulefile

import (
	"errors"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// known reports whether a finding only follows from what is reported already.
func (l *loader) known(f rule.Finding) bool {
	if f.Index < 0 || f.Index >= len(l.rules) {
		return false
	}
	wrong := l.rules[f.Index].wrong
	if f.Field == "" {
		return len(wrong) > 0
	}
	return slices.ContainsFunc(wrong, func(path string) bool {
		return strings.HasPrefix(path, f.Field) || strings.HasPrefix(f.Field, path)
	})
}

// finding gives a finding its place.
func (l *loader) finding(f rule.Finding) Problem {
	reason := f.Reason
	if f.Field != "" {
		reason = f.Field + ": " + reason
	}
	p := Problem{File: l.result.Files[0], Reason: reason, Hint: f.Hint}
	if f.Index >= 0 && f.Index < len(l.rules) {
		n := l.rules[f.Index].node.find(f.Field)
		p = n.problem(reason, f.Hint)
		if f.Field == "match.when" && !f.Warning {
			p = l.condition(n, p)
		}
	} else if name, rest, _ := strings.Cut(f.Field, "."); l.once[name] != nil {
		p = l.once[name].find(rest).problem(reason, f.Hint)
	}
	p.Rule, p.Field, p.Warning = f.Rule, f.Field, f.Warning
	return p
}

// condition points at the part of an expression that is wrong.
func (l *loader) condition(n *node, p Problem) Problem {
	_, err := l.options.conditions.Compile(n.text)
	var wrong *ConditionError
	if errors.As(err, &wrong) {
		line, column := n.within(wrong.Line-1, wrong.Column-1)
		return n.src.at(line, column, "match.when: "+wrong.Reason, wrong.Hint)
	}
	return p
}
