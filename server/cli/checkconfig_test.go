package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-limiter/sluice/server/cli"
)

// The exit code of check-config is 2 whatever is wrong, in words and in JSON.
func TestExitCodesOfCheckConfig(t *testing.T) {
	const good = "rules: [{name: a, limits: [1/h]}]\ntests: [{name: t, steps: [{request: GET /, expect: allow}]}]\n"
	const failing = "rules: [{name: a, limits: [1/h]}]\ntests: [{name: t, steps: [{request: GET /, expect: deny}]}]\n"
	for _, tt := range []struct {
		name, text string
		code       int
	}{
		{"good", good, 0},
		{"a failing test", failing, 2},
		{"a bad setting", good + "server: {deadline: 5h}\n", 2},
	} {
		for _, flags := range [][]string{{"--test"}, {"--test", "--json"}} {
			file := filepath.Join(t.TempDir(), "rules.yaml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			code := cli.Run(t.Context(), cli.Terminal{Args: append([]string{"check-config", file}, flags...), Out: &out, Err: &out})
			if code != tt.code {
				t.Errorf("%s, %v: exit code %d\n%s", tt.name, flags, code, out.String())
			}
		}
	}
}
