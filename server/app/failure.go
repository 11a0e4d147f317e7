package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// maxTold bounds how many problems of a file are logged.
const maxTold = 10

// told is an error as logs and audit show it: places and reasons, without the lines of
// the file, which may hold secrets.
func told(err error) string {
	var problems rulefile.Problems
	if !errors.As(err, &problems) {
		return err.Error()
	}
	var texts []string
	for i, p := range problems {
		if i == maxTold {
			texts = append(texts, fmt.Sprintf("and %d more", len(problems)-i))
			break
		}
		place := p.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
		}
		texts = append(texts, place+": "+p.Reason)
	}
	return strings.Join(texts, "; ")
}
