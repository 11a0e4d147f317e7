package httplimit

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestRulesThatJustCame: a request that was looked at by rules that let nobody wait, and
// decided by those that replaced them, waits as these say.
func TestRulesThatJustCame(t *testing.T) {
	for _, limit := range []string{"1/s", "fixed_window 1/s"} {
		synctest.Test(t, func(t *testing.T) {
			set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
				Name: "all", Wait: rule.Duration(time.Minute), Limits: []rule.Limit{{Limit: sluice.MustParse(limit)}},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := engine.New(set, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Close() }()
			c := newConfig()
			rules := newRuled(e, &c)
			h := around(guard{config: &c, rules: rules})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			begin := time.Now()
			for range 3 {
				rules.traits.Store(&traits{set: set}) // what the rules before have been
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
				if w.Code != http.StatusOK {
					t.Errorf("%s: status %d", limit, w.Code)
				}
			}
			if took := time.Since(begin); took != 2*time.Second {
				t.Errorf("%s: three requests took %v, want 2s", limit, took)
			}
		})
	}
}
