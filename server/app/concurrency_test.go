package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// TestConcurrencyNeedsAGateway: rules that count who is in flight are put in force only
// where somebody holds requests. The doors that answer questions then look at what the
// gateway holds.
func TestConcurrencyNeedsAGateway(t *testing.T) {
	const rate, concurrency = "rules: [{name: all, limits: [10/s]}]\n", "rules: [{name: all, limits: [concurrency 1]}]\n"
	file := newFile(t, rate)
	r := start(t, config.Sources{Path: file.path})
	for _, text := range []string{concurrency, "gateway: {upstreams: [{name: app, servers: ['http://127.0.0.1:9']}]}\n" + concurrency} {
		file.write(text)
		if _, err := r.Reload(t.Context(), "test"); err == nil {
			t.Errorf("it was taken: %s", text)
		}
		if rules, _ := r.Rules(); rules.Rules[0].Limits[0].Limit.String() != "10/s" {
			t.Errorf("in force is %v", rules)
		}
	}
	if err := r.Validate(t.Context(), []byte(concurrency)); err == nil || !strings.Contains(err.Error(), config.NobodyHolds) {
		t.Errorf("validate: %v", err)
	}
}

func TestConcurrencyAtAllDoors(t *testing.T) {
	inside, end := make(chan bool), make(chan bool)
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- true
		<-end
	}))
	defer app.Close()
	file := newFile(t, "gateway: {listen: '127.0.0.1:0', upstreams: [{name: app, servers: ['"+app.URL+"']}]}\nrules: [{name: all, limits: [concurrency 1]}]\n")
	r := start(t, config.Sources{Path: file.path})
	ask := func(when, want string) {
		t.Helper()
		for range 2 {
			if _, text := r.do("POST", "/v1/check", `{"path": "/"}`); !strings.Contains(text, want) {
				t.Errorf("%s: %s", when, text)
			}
		}
	}
	ask("before", `"allowed":true`)
	answered := make(chan string)
	go func() { answered <- told(t, r) }()
	<-inside
	ask("beside a request", `"allowed":false`)
	if _, text := r.do("POST", "/v1/explain", `{"path": "/"}`); !strings.Contains(text, `"in_flight":1`) || !strings.Contains(text, `"limit":"concurrency 1"`) {
		t.Error(text)
	}
	if err := r.Validate(t.Context(), []byte("rules: [{name: all, limits: [concurrency 2]}]\n")); err != nil {
		t.Error(err)
	}
	end <- true
	if got := <-answered; !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	ask("after it", `"allowed":true`)
}
