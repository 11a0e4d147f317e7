package rulefile

import (
	"errors"
	"fmt"

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

// conditionError takes the place and the bare message out of an error of the language,
// and adds the hint for that place.
func conditionError(err error, text string, hints map[file.Location]string) *ConditionError {
	e := &ConditionError{Line: 1, Column: 1, Reason: err.Error()}
	var at *file.Error
	if errors.As(err, &at) {
		e.Line, e.Column, e.Reason, e.Hint = max(at.Line, 1), at.Column+1, at.Message, hints[at.Location]
	}
	if e.Hint == "" {
		e.Hint = conditionHint(e.Reason, text)
	}
	return e
}
