package rulefile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/file"
)

// ConditionError says what is wrong with a when: expression.
type ConditionError struct {
	Line, Column int // in the expression, from 1
	Reason       string
	Hint         string // may be empty
}

func (e *ConditionError) Error() string {
	s := fmt.Sprintf("%s (line %d, column %d of the expression)", e.Reason, e.Line, e.Column)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// conditionError takes the place and the bare message out of an error of the language.
func conditionError(err error) *ConditionError {
	var at *file.Error
	if !errors.As(err, &at) {
		hint := ""
		if strings.Contains(err.Error(), "expected bool") {
			hint = `compare it with something, as in length > 1000`
		}
		return &ConditionError{Line: 1, Column: 1, Reason: err.Error(), Hint: hint}
	}
	e := &ConditionError{Line: max(at.Line, 1), Column: at.Column + 1, Reason: at.Message}
	if _, name, ok := strings.Cut(at.Message, "unknown name "); ok {
		name, _, _ = strings.Cut(name, " ")
		e.Hint = suggest(name, append(slices.Sorted(maps.Keys(environment)), builtins...))
	}
	return e
}
