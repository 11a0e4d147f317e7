package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of all settings, as it stands in docs/SERVER.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| in the file, under `server:` | variable | flag | default | meaning |\n|---|---|---|---|---|\n")
	for i := range settings {
		s := &settings[i]
		text := s.Default()
		if text != "" {
			text = "`" + text + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | `--%s` | %s | %s |\n", s.Name, s.Env(), s.Flag(), text, strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String()
}
