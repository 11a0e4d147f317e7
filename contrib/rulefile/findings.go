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
		return isBelow(path, f.Field) || isBelow(f.Field, path)
	})
}

// isBelow reports whether a path is the other one or leads to a part of it, as
// limits[1].scope does of limits[1]; limits[10] does not. The empty path is the rule.
func isBelow(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (other == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
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
		switch {
		case f.Warning:
		case f.Field == "match.when":
			p = l.condition(n, p)
		case strings.HasPrefix(f.Field, "match.paths[") && looksLikePattern(n.text):
			p.Hint = patternHint(n.text)
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
