package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// login is what Caddy says of a login.
var login = []string{
	"X-Forwarded-Method", "POST", "X-Forwarded-Uri", "/login", "X-Forwarded-Host", "app.example", "X-Forwarded-For", "192.0.2.1",
}

func TestForwardAuth(t *testing.T) {
	tokens := map[string]string{"T": "0123456789abcdef"}
	r := start(t, config.Sources{
		Flags: map[string]string{"tokens.env": "T"},
		Env:   func(name string) (string, bool) { v, ok := tokens[name]; return v, ok },
	})
	for i := range 6 {
		response, body := r.do("GET", "/forward-auth/caddy?x=1", "", login...)
		if want := i < 5; (response.StatusCode == http.StatusNoContent) != want || response.Header.Get("RateLimit") == "" {
			t.Errorf("login %d: %d %s", i+1, response.StatusCode, body)
		}
	}
	token := append([]string{"Authorization", "Bearer 0123456789abcdef"}, login...)
	_, metrics := r.do("GET", "/metrics", "", token...)
	if !strings.Contains(metrics, `sluice_decision_duration_seconds_count{door="forward_auth"} 6`) {
		t.Error("the door is not in the metrics")
	}
	if response, _ := r.do("GET", "/v1/rules", "", login...); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the API without a token: %d", response.StatusCode)
	}
}

func TestForwardAuthOfStrangers(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"forward_auth.trusted": "192.0.2.0/24, 2001:db8::1"}})
	response, body := r.do("GET", "/forward-auth/caddy", "", login...)
	if response.StatusCode != http.StatusForbidden || !strings.Contains(body, "forward_auth.trusted") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if !strings.Contains(r.log.String(), "127.0.0.1 is not a proxy that may ask here") {
		t.Errorf("the log does not tell:\n%s", r.log)
	}
}

func TestForwardAuthUnderLoad(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"limits.in_flight": "1"}})
	for range 3 { // each gives its place back
		if response, body := r.do("GET", "/forward-auth/caddy", "", login...); response.StatusCode != http.StatusNoContent {
			t.Errorf("%d %s", response.StatusCode, body)
		}
	}
}

// TestForwardAuthWaiting: clients that wait in line leave places for others.
func TestForwardAuthWaiting(t *testing.T) {
	f := newFile(t, "rules: [{name: line, key: [ip], limits: [1/m], wait: 60s}]\n")
	r := start(t, config.Sources{Path: f.path, Flags: map[string]string{"limits.in_flight": "4"}})
	ctx, leave := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer leave()
	ask := func(ctx context.Context, client string) int {
		request, err := http.NewRequestWithContext(ctx, "GET", r.url+"/forward-auth/caddy", nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		for i := 0; i < len(login); i += 2 {
			request.Header.Set(login[i], login[i+1])
		}
		request.Header.Set("X-Forwarded-For", client)
		response, err := r.http.Do(request)
		if err != nil {
			return 0 // it has left
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	var answered atomic.Int64
	for i := range 8 {
		client := fmt.Sprintf("192.0.2.%d", i+1)
		ask(ctx, client) // spends all that it has
		waiting.Go(func() {
			ask(ctx, client)
			answered.Add(1)
		})
	}
	eventually(t, "half of the places are left", func() bool { return answered.Load() == 6 })
	for i := range 10 {
		if status := ask(ctx, fmt.Sprintf("198.51.100.%d", i+1)); status == http.StatusServiceUnavailable {
			t.Errorf("others get %d", status)
		}
	}
}
