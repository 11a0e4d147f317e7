package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// Written in lines, too many rules are refused before anything is read: what comes after
// them is no YAML.
func TestCheckRefusesTooManyRules(t *testing.T) {
	var text strings.Builder
	text.WriteString("# rules\nrules:\n")
	for i := range config.MaxChecked + 1 {
		fmt.Fprintf(&text, "  - {name: r%d, limits: [1/s]}\n", i)
	}
	err := config.Check("rules.yaml", []byte(text.String()+"tests: [[[\n"), nil, true)
	if err == nil || !strings.Contains(err.Error(), "more than 20000 rules") {
		t.Errorf("err = %.200v", err)
	}
}

func TestCheckCountsRules(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		refused    bool
	}{
		{"two", "rules:\n- {name: a, limits: [1/s]}\n- {name: b, limits: [1/s]}\n", false},
		{"three", "rules:\n- {name: a, limits: [1/s]}\n\n# c\n- {name: b, limits: [1/s]}\n- {name: c, limits: [1/s]}\n", true},
		{"in brackets", "rules: [{name: a, limits: [1/s]}, {name: b, limits: [1/s]}, {name: c, limits: [1/s]}]\n", true},
		{"other lists", "rules:\n- name: a\n  match:\n    ips:\n    - 192.0.2.1\n    - 192.0.2.2\n  limits:\n  - 1/s\n  - 9/m\n", false},
		{"tests", "rules:\n- {name: a, limits: [1/s]}\ntests:\n- {name: a, steps: [{request: GET /, expect: allow}]}\n- {name: b, steps: [{request: GET /, expect: allow}]}\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := config.CheckUpTo("rules.yaml", []byte(tt.text), nil, true, 2); (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "more than 2 rules") {
				t.Errorf("err = %v", err)
			}
		})
	}
}
