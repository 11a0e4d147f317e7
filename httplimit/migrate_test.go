package httplimit_test

import (
	"net/http"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// The functions that follow are the pieces of code of docs/migrate/httprate.md and
// docs/migrate/tollbooth.md.

func migrateByIP(mux http.Handler) http.Handler {
	// was: r.Use(httprate.LimitByIP(100, time.Minute))
	handler := httplimit.ByIP(sluice.PerMinute(100))(mux)
	return handler
}

func migrateKeys(mux http.Handler) http.Handler {
	// was: httprate.Limit(10, time.Second, httprate.WithKeyFuncs(httprate.KeyByIP, httprate.KeyByEndpoint))
	address := httplimit.ClientAddress()
	limit := httplimit.Middleware(sluice.NewKeyed(sluice.PerSecond(10)),
		httplimit.Headers(rule.HeadersLegacy),
		httplimit.KeyBy(func(r *http.Request) (string, error) {
			return address(r).String() + " " + r.URL.Path, nil
		}),
	)
	return limit(mux)
}

func migrateHandler(mux http.Handler) http.Handler {
	// was: tollbooth.LimitHandler(tollbooth.NewLimiter(10, nil).SetBurst(20), mux)
	handler := httplimit.ByIP(sluice.PerSecond(10).WithBurst(20))(mux)
	return handler
}

func migrateRules() error {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name:      "writes",
		Match:     rule.Match{Methods: []string{"POST", "PUT"}},
		Key:       []string{"header:X-Access-Token"},
		Missing:   rule.MissingDeny,
		Limits:    []rule.Limit{{Limit: sluice.PerSecond(10)}},
		Overrides: []rule.Override{{Keys: []rule.KeyValues{{"gold"}}, Limits: []rule.Limit{{Limit: sluice.PerSecond(100)}}}},
	}}})
	_ = set
	return err
}

func TestMigrate(t *testing.T) {
	for name, limited := range map[string]http.Handler{
		"httprate": migrateByIP(served), "httprate keys": migrateKeys(served), "tollbooth": migrateHandler(served),
	} {
		wantStatus(t, name, serve(limited, request("192.0.2.1:1")), http.StatusOK)
	}
	if err := migrateRules(); err != nil {
		t.Error(err)
	}
}
