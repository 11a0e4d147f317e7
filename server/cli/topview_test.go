package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/api"
)

// Rates are those since the view before; there are none at first, and a server that began
// anew counts from 0.
func TestRatesOfTop(t *testing.T) {
	v := view{}
	for _, tt := range []struct {
		was, is int64
		want    string
	}{{0, 100, "10"}, {100, 300, "20"}, {300, 50, "5"}} {
		if got := v.rate(tt.was, tt.is, 10); got != "-" {
			t.Errorf("at first: %s", got)
		}
		later := view{at: time.Unix(1, 0)}
		if got := later.rate(tt.was, tt.is, 10); got != tt.want {
			t.Errorf("from %d to %d in 10 s: %s, want %s", tt.was, tt.is, got, tt.want)
		}
	}
}

func TestTextOfTop(t *testing.T) {
	v := view{}
	text := v.text(&topReport{
		Stats: api.Stats{Requests: 7, Denied: 2, NoRule: 1, ShadowAll: true, Rules: []api.RuleStats{{Rule: "login", Requests: 6, Denied: 2}}},
		Top:   api.Top{Keys: []api.TopKey{{Key: "192.0.2.1", Rule: "login", Count: 4}}},
	})
	for _, part := range []string{"EVERY RULE IS SHADOW", "7 requests, 2 refused, 1 without a rule", "login  -           -          6         2", "192.0.2.1     login  4"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}
