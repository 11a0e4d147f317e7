package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// backend is a server that counts its requests.
func backend(t *testing.T, answer func(n int64, w http.ResponseWriter, r *http.Request)) (address string, came *atomic.Int64) {
	t.Helper()
	came = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(came.Add(1), w, r) }))
	t.Cleanup(s.Close)
	return s.URL + "/items", came
}

// quick is a probe whose goal is held even by a machine that has no time.
var quick = []string{"probe", "--slo", "p99=30s", "--hold", "50ms", "--start", "20/s", "--max", "40/s", "--recovery", "300ms", "--json"}

type probed struct {
	Interrupted bool
	Targets     []struct {
		Target              string
		Capacity, Low, High float64
		Requests            int64
		Stopped             string
		Curve               []struct {
			Rate float64
			Sent int
			Held bool
		}
	}
	Together *struct{ Capacity float64 }
	Limit    string
	Rule     string
	Replicas int
	Each     string `json:"per_instance"`
}

// runProbe runs the command and reads what it prints.
func runProbe(ctx context.Context, t *testing.T, args ...string) (p probed, complaint string, code int) {
	t.Helper()
	out, complaint, code := command(ctx, nil, append(quick[:len(quick):len(quick)], args...)...)
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatalf("%v, exit code %d: %s%s", err, code, out, complaint)
	}
	return p, complaint, code
}

// TestProbe: over real sockets, every request is the one that was asked for, all of them
// are counted, and the rule that comes out can be loaded.
func TestProbe(t *testing.T) {
	address, came := backend(t, func(_ int64, _ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/items" || r.Header.Get("X-Key") != "a: b" || r.Host != "example.com" || string(body) != "{}" {
			t.Errorf("%s %s %v %s %q", r.Method, r.URL, r.Header, r.Host, body)
		}
	})
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	p, complaint, code := runProbe(t.Context(), t, "--target", address, "--method", "POST", "--header", "X-Key: a: b", "--header", "Host: example.com", "--body", "{}", "--peak", "100/s", "--rule", rules)
	if code != 0 || complaint != "" || len(p.Targets) != 1 {
		t.Fatalf("%d %s %+v", code, complaint, p)
	}
	one := p.Targets[0]
	if one.Capacity != 40 || one.Low != 40 || one.High != 0 || one.Stopped != "" || one.Requests != came.Load() || one.Target != address {
		t.Errorf("%d came: %+v", came.Load(), one)
	}
	if c := one.Curve; len(c) != 2 || c[0].Rate != 20 || c[1].Rate != 40 || !c[1].Held || c[0].Sent+c[1].Sent+3 != int(one.Requests) {
		t.Errorf("%+v", c)
	}
	if p.Limit != "32/s burst=600" || p.Replicas != 4 || p.Each != "" {
		t.Errorf("%+v", p)
	}
	if text, err := os.ReadFile(rules); err != nil || string(text) != p.Rule || !strings.Contains(p.Rule, "at least 40/s") {
		t.Errorf("%v: %s", err, text)
	}
	if out, complaint, code := command(t.Context(), nil, "check-config", rules); code != 0 {
		t.Errorf("%d %s%s", code, out, complaint)
	}
}

// TestProbeSeveral: each alone, then all in turn.
func TestProbeSeveral(t *testing.T) {
	answer := func(int64, http.ResponseWriter, *http.Request) {}
	a, cameA := backend(t, answer)
	b, cameB := backend(t, answer)
	p, complaint, code := runProbe(t.Context(), t, "--target", a, "--target", b, "--peak", "1000/s")
	if code != 0 || len(p.Targets) != 2 || p.Together == nil || p.Together.Capacity != 80 {
		t.Fatalf("%d %s %+v", code, complaint, p)
	}
	if p.Limit != "64/s burst=1200" || p.Each != "32/s burst=600" || p.Replicas != 32 {
		t.Errorf("%+v", p)
	}
	if n, m := cameA.Load()-p.Targets[0].Requests, cameB.Load()-p.Targets[1].Requests; n < 10 || n-m > 1 || m-n > 1 {
		t.Errorf("together %d and %d", n, m)
	}
}

// TestProbeTargetFails: it is left alone, and what was known is told.
func TestProbeTargetFails(t *testing.T) {
	address, _ := backend(t, func(n int64, w http.ResponseWriter, _ *http.Request) {
		if n > 7 { // three to find out whether it is there, and four of the first step
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	p, complaint, code := runProbe(t.Context(), t, "--target", address, "--max", "1000/s")
	if code != 1 || !strings.Contains(complaint, "the target does not answer: answers 503") || p.Targets[0].Capacity != 0 || p.Rule != "" && p.Targets[0].Low == 0 {
		t.Errorf("%d %s %+v", code, complaint, p)
	}
	address, came := backend(t, func(_ int64, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	if _, complaint, code = runProbe(t.Context(), t, "--target", address); code != 1 || !strings.Contains(complaint, "probe what is behind") || came.Load() > 10 {
		t.Errorf("%d %s", code, complaint)
	}
}

// TestProbeInterrupted: what is known so far is printed.
func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address, _ := backend(t, func(n int64, _ http.ResponseWriter, _ *http.Request) {
		if n == 12 { // within the second step
			cancel()
		}
	})
	p, complaint, code := runProbe(ctx, t, "--target", address)
	if code != 0 || !p.Interrupted || p.Targets[0].Low != 20 || p.Targets[0].Stopped != "interrupted" || p.Limit == "" {
		t.Errorf("%d %s %+v", code, complaint, p)
	}
}
