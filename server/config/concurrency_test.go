package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// TestNobodyHolds: a limit of concurrency needs a gateway. Without one it is refused, at
// its place, by all who would put it in force, and is a warning for who only looks at a
// file: a gateway may still come from the command line.
func TestNobodyHolds(t *testing.T) {
	const rules = "rules:\n  - name: reports\n    limits: [10/s, concurrency 4]\n"
	const off = "rules:\n  - name: reports\n    mode: \"off\"\n    limits: [10/s, concurrency 4]\n"
	const gateway = "gateway: {upstreams: [{name: app, servers: ['http://127.0.0.1:9000']}]}\n"
	for _, c := range []struct {
		name, text string
		upstream   []string
		refused    bool
	}{
		{"alone", rules, nil, true},
		{"off", off, nil, false},
		{"with a gateway", gateway + rules, nil, false},
		{"with servers of the command line", rules, []string{"http://127.0.0.1:9000"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rules.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := config.Sources{Path: file, Upstreams: c.upstream}
			loaded, err := s.Load()
			wantRefused(t, "Load", err, c.refused)
			if !c.refused {
				_, err = s.Again(loaded)
				wantRefused(t, "Again", err, false)
			}
			looked, _, err := s.Examine()
			if err != nil || (len(looked.Rules.Warnings) > 0) != c.refused || c.refused && !strings.Contains(looked.Rules.Warnings[0].Reason, config.NobodyHolds) {
				t.Errorf("Examine: %v, %v", err, looked.Rules.Warnings)
			}
			wantRefused(t, "Check", config.Check("rules.yaml", []byte(c.text), nil, len(c.upstream) > 0), c.text == rules && c.upstream == nil || c.text == gateway+rules)
		})
	}
}

func wantRefused(t *testing.T, who string, err error, refused bool) {
	t.Helper()
	switch {
	case (err != nil) != refused:
		t.Errorf("%s: %v", who, err)
	case err != nil && (!strings.Contains(err.Error(), config.NobodyHolds) || !strings.Contains(err.Error(), "limits: [10/s, concurrency 4]")):
		t.Errorf("%s: not at its place: %v", who, err)
	}
}

// TestShapeIsARate: an upstream lets requests out at a rate, and at nothing else.
func TestShapeIsARate(t *testing.T) {
	if _, err := gateway(t, "gateway: {upstreams: [{name: app, servers: ['http://127.0.0.1:9000'], shape: concurrency 4}]}", nil); err == nil || !strings.Contains(err.Error(), "shape") {
		t.Errorf("error %v", err)
	}
}
