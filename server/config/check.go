package config

import (
	"bytes"
	"fmt"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// MaxChecked is how many rules the text of a file may have for Check, which works for
// whoever asks. What the server itself is given to load has no such bound.
const MaxChecked = 20_000

// Check reports what is wrong with the text of a rule file, as rulefile.Problems. Of
// the settings it checks the form only. holds says whether somebody holds requests, as a
// gateway does.
func Check(name string, data, secret []byte, holds bool) error {
	return check(name, data, secret, holds, MaxChecked)
}

func check(name string, data, secret []byte, holds bool, most int) error {
	many := rulefile.Problems{{
		File: name, Field: "rules", Reason: fmt.Sprintf("more than %d rules are not checked here", most),
		Hint: "check parts of it, or use sluice check-config",
	}}
	if entries(data) > most { // to read them would take seconds
		return many
	}
	opts := options(secret, rulefile.NewConditions())
	if !holds {
		opts = append(opts, aboutHolders(false))
	}
	read, err := rulefile.Parse(name, data, opts...)
	if err == nil && len(read.Config.Rules) > most {
		return many
	}
	return err
}

// entries counts the rules of a file by its lines: those below "rules:" that begin with
// a dash as far left as the first of them. It finds none that are written in brackets.
func entries(data []byte) (n int) {
	inside, indent := false, -1
	for line := range bytes.Lines(data) {
		text := bytes.TrimLeft(line, " ")
		at := len(line) - len(text)
		dash := bytes.HasPrefix(text, []byte("- "))
		switch {
		case bytes.HasPrefix(line, []byte("rules:")):
			inside = true
		case at == 0 && !dash && len(bytes.TrimSpace(text)) > 0 && text[0] != '#':
			inside = false // another section
		case inside && dash && indent < 0:
			indent, n = at, 1
		case inside && dash && at == indent:
			n++
		}
	}
	return n
}
