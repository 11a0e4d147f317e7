package replay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// TestConcurrencyIsRefused: a log does not tell for how long requests ran, so that a limit
// on those in flight would never bind. That is said before the log is read.
func TestConcurrencyIsRefused(t *testing.T) {
	compiled := func(mode rule.Mode) *rule.Set {
		set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
			{Name: "reports", Limits: []rule.Limit{{Limit: rule.Concurrency(4)}}, Mode: mode},
			{Name: "rest", Limits: []rule.Limit{{Limit: sluice.PerSecond(1)}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	unread := func(func(*accesslog.Entry) bool) { t.Error("the log was read") }
	for _, o := range []struct{ set, other *rule.Set }{{compiled(rule.Shadow), nil}, {compiled(rule.Off), compiled(rule.Enforce)}} {
		_, err := replay.Run(o.set, unread, replay.Options{Other: o.other})
		if !errors.Is(err, replay.ErrConcurrency) || !strings.Contains(err.Error(), `rule "reports"`) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := replay.Run(compiled(rule.Off), slices.Values([]*accesslog.Entry{entry(0, 1, "")}), replay.Options{}); err != nil {
		t.Error(err)
	}
}
