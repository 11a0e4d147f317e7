package server

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// budget is a limit that does not fill up again while the test runs.
const (
	budget      = 10_000_000
	budgetRules = "rules: [{name: all, limits: [fixed_window 10000000/w]}]\n"
	spend       = `{"path":"/","cost":1}`
)

// spending asks over several connections until the server is gone, and returns what it
// was told that it may spend.
type spending struct {
	allowed atomic.Int64
	work    sync.WaitGroup
}

func (p *spending) begin(s *server, clients int) {
	for range clients {
		p.work.Go(func() {
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			for p.one(s, transport) {
			}
		})
	}
}

// one reports whether there was an answer.
func (p *spending) one(s *server, transport *http.Transport) bool {
	answer, err := transport.RoundTrip(s.request("POST", "/v1/check", spend))
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var decision struct{ Allowed, Degraded bool }
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, &decision)
	}
	switch {
	case err != nil || answer.StatusCode != http.StatusOK:
		s.t.Errorf("half an answer: %s %q %v", answer.Status, text, err)
	case decision.Degraded:
		s.t.Errorf("not decided by Redis: %s", text)
	case decision.Allowed:
		p.allowed.Add(1)
	}
	return true
}

// spent returns what is gone from the budget.
func (s *server) spent() int64 {
	s.t.Helper()
	var decision struct{ Remaining int64 }
	text := s.text("POST", "/v1/peek", spend)
	if err := json.Unmarshal([]byte(text), &decision); err != nil {
		s.t.Fatal(err)
	}
	return budget - decision.Remaining - 1 // Peek tells what would be left after it
}

// live runs a server under load and ends it by a signal.
func live(t *testing.T, p *spending, redis string, signal syscall.Signal, settings ...string) (ended error) {
	t.Helper()
	settings = append(settings, "SLUICE_REDIS=redis://"+redis, "SLUICE_DEADLINE=10s")
	s := start(t, budgetRules, settings...)
	until := p.allowed.Load() + 500
	p.begin(s, 8)
	eventually(t, "load", func() bool { return p.allowed.Load() > until })
	ended = s.end(signal)
	p.work.Wait()
	return ended
}

// TestRestartsUnderLoad: whoever was told to go ahead has been counted, nobody else has,
// and what was taken ahead is given back, each time that the server ends in order.
func TestRestartsUnderLoad(t *testing.T) {
	redis := redistest.Start(t)
	for _, age := range []string{"50ms", "5s"} { // of leases
		for range 3 {
			p := &spending{}
			first := start(t, budgetRules, "SLUICE_REDIS=redis://"+redis.Addr(), "SLUICE_DEADLINE=10s")
			before := first.spent()
			if err := first.end(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := live(t, p, redis.Addr(), syscall.SIGTERM, "SLUICE_LEASE_AGE="+age); err != nil {
				t.Errorf("it ended with %v", err)
			}
			last := start(t, budgetRules, "SLUICE_REDIS=redis://"+redis.Addr(), "SLUICE_DEADLINE=10s")
			if got := last.spent() - before; got != p.allowed.Load() {
				t.Errorf("leases of %s: %d were allowed, and %d are spent", age, p.allowed.Load(), got)
			}
		}
	}
}

// TestCrashesUnderLoad: whoever was told to go ahead has been counted, however the
// server ends. Without leases no more is lost than what was being decided.
func TestCrashesUnderLoad(t *testing.T) {
	redis := redistest.Start(t)
	p := &spending{}
	const crashes = 5
	for range crashes {
		if err := live(t, p, redis.Addr(), syscall.SIGKILL, "SLUICE_LEASE_ON=false"); err == nil {
			t.Error("it was not killed")
		}
	}
	last := start(t, budgetRules, "SLUICE_REDIS=redis://"+redis.Addr(), "SLUICE_DEADLINE=10s")
	if lost := last.spent() - p.allowed.Load(); lost < 0 || lost > 8*crashes {
		t.Errorf("%d were allowed, and %d more are spent; at most %d were under way", p.allowed.Load(), lost, 8*crashes)
	}
}
