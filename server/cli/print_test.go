package cli

import (
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/config"
)

// TestExplainTellsOfSlots: several calls are worth a word, one is not.
func TestExplainTellsOfSlots(t *testing.T) {
	for calls, want := range map[int]string{0: "", 1: "", 2: "2 slots of the Redis Cluster, so a decision takes 2 calls"} {
		var out strings.Builder
		printExplanation(&out, api.Explanation{Path: "/login", Calls: calls})
		if got := out.String(); want == "" && strings.Contains(got, "slots") || !strings.Contains(got, want) {
			t.Errorf("%d calls: %q", calls, got)
		}
	}
}

// TestRulesOf: the first line of a server says in words where its rules come from.
func TestRulesOf(t *testing.T) {
	for source, want := range map[string]string{
		config.BuiltIn: "its built-in sample rules (name your own with --config)",
		"rules.yaml":   "the rules of rules.yaml",
	} {
		if got := rulesOf(source); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
