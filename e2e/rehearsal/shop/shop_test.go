package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain finds goroutines that were left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSettings(t *testing.T) {
	const db = "SHOP_DATABASE=host=db"
	for _, test := range []struct {
		name        string
		args        []string
		environment []string
		want        string // that is told; empty: all is well
	}{
		{"variables", nil, []string{db, "SHOP_PER_SECOND=7", "PATH=/bin"}, ""},
		{"a flag beats a variable", []string{"-per-second", "7"}, []string{db, "SHOP_PER_SECOND=9"}, ""},
		{"an empty variable is none", []string{"-per-second", "7"}, []string{db, "SHOP_REDIS="}, ""},
		{"no database", nil, nil, "SHOP_DATABASE"},
		{"misspelt", nil, []string{db, "SHOP_PERSECOND=7"}, "SHOP_PERSECOND"},
		{"no number", nil, []string{db, "SHOP_PER_SECOND=many"}, "SHOP_PER_SECOND"},
		{"no rate", []string{"-per-second", "0"}, []string{db}, "1 or more"},
		{"no wait", []string{"-database-wait", "0s"}, []string{db}, "above 0"},
		{"an argument", []string{"serve"}, []string{db}, `"serve"`},
		{"no such flag", []string{"-nothing"}, []string{db}, "-nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var told bytes.Buffer
			s, err := readSettings(test.args, test.environment, &told)
			if test.want == "" {
				if err != nil || s.perSecond != 7 || s.database != "host=db" {
					t.Errorf("%+v, %v\n%s", s, err, &told)
				}
			} else if !errors.Is(err, errSettings) || !strings.Contains(told.String(), test.want) {
				t.Errorf("%v, told %q: want %q", err, &told, test.want)
			}
		})
	}
}

// TestNoDatabase: it does not start, and neither the password of the database nor that of
// Redis is told.
func TestNoDatabase(t *testing.T) {
	for _, args := range [][]string{
		{"-database", "postgres://shop:hunter2@127.0.0.1:1/shop?sslmode=disable"},
		{"-database", "postgres://shop:hunter2@[/shop"},
	} {
		var out, told bytes.Buffer
		err := run(context.Background(), append(args, "-redis", "redis://:hunter2@["), nil, &out, &told)
		if err == nil || strings.Contains(err.Error()+told.String(), "hunter2") || out.Len() > 0 {
			t.Errorf("%v: error %v, told %q, printed %q", args, err, &told, &out)
		}
	}
}

// TestRoutes: what Kubernetes and Prometheus ask for is there, and needs no database.
func TestRoutes(t *testing.T) {
	s, err := newShop(settings{name: "shop-1", perSecond: 1000, inFlight: 1}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	routes := s.routes()
	ask := func(method, path string) *http.Response {
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Result()
	}
	permit, _ := s.inFlight.Allow() // so that no order gets to the database
	defer permit.Release()
	for _, draining := range []bool{false, true} {
		s.draining.Store(draining)
		ready, closes := http.StatusOK, ""
		if draining {
			ready, closes = http.StatusServiceUnavailable, "close"
		}
		for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": ready, "/metrics": http.StatusOK, "/": http.StatusNotFound} {
			if got := ask("GET", path).StatusCode; got != want {
				t.Errorf("draining %v: GET %s: %d, want %d", draining, path, got, want)
			}
		}
		order := ask("POST", "/orders")
		if order.StatusCode != http.StatusTooManyRequests || order.Header.Get("Retry-After") == "" ||
			order.Header.Get("Shop-Instance") != "shop-1" || order.Header.Get("Connection") != closes {
			t.Errorf("draining %v: an order beyond what is in flight got %d %v", draining, order.StatusCode, order.Header)
		}
	}
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{"sluice_cost_offered_total{rule=\"instance\"} 2\n", "sluice_cost_admitted_total{rule=\"instance\"} 2\n", "shop_orders_total 0\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is not in\n%s", want, w.Body)
		}
	}
}
