package rulefile

import (
	"testing"

	"github.com/sluice-limiter/sluice/rule"
)

// What only follows from a problem that is told already is not told again.
func TestKnownFindings(t *testing.T) {
	root, problems := newSource("x.yaml", []byte("limits: [1/s, {name: x, limit: 2/s}]\n")).read()
	if problems != nil {
		t.Fatal(problems)
	}
	l := loader{rules: []origin{{node: root, wrong: []string{"limits[0]", "match.paths[1]", "cost"}}, {node: root}}}
	tests := []struct {
		index int
		field string
		want  bool
	}{
		{0, "limits[0].limit", true},
		{0, "limits[0]", true},
		{0, "limits", true}, // none is left, perhaps
		{0, "match.paths", true},
		{0, "", true},
		{0, "limits[1]", false},
		{0, "match.paths[10]", false},
		{0, "cost.fixed", true},
		{0, "costs", false},
		{0, "key[0]", false},
		{1, "limits[0].limit", false},
		{1, "", false},
		{-1, "default", false},
	}
	for _, test := range tests {
		if got := l.known(rule.Finding{Index: test.index, Field: test.field}); got != test.want {
			t.Errorf("rule %d, %q: got %v", test.index, test.field, got)
		}
	}
}
