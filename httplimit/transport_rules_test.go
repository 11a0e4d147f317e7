package httplimit_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// TestTransportThatNeverWaits: Wait(0) goes for rules that would let it wait as well, and
// the place that it does not take is free for others.
func TestTransportThatNeverWaits(t *testing.T) {
	for _, limit := range []string{"1/m", "leaky_bucket 1/m burst=5", "fixed_window 1/m"} {
		synctest.Test(t, func(t *testing.T) {
			e := newRules(t, rule.Config{Rules: []rule.Rule{{Name: "all", Limits: limits(limit), Wait: rule.Duration(time.Hour), Cost: rule.Cost{Fixed: 1}}}})
			hasty := httplimit.Transport(replies(200), httplimit.OutgoingRules(e), httplimit.Wait(0))
			patient := httplimit.Transport(replies(200), httplimit.OutgoingRules(e))
			if took, err := call(t, t.Context(), hasty, "http://a.example/"); took != 0 || err != nil {
				t.Errorf("%s: first: %v, %v", limit, took, err)
			}
			for range 3 {
				if took, err := call(t, t.Context(), hasty, "http://a.example/"); took != 0 || !errors.Is(err, sluice.ErrLimited) {
					t.Errorf("%s: hasty: %v, %v", limit, took, err)
				}
			}
			if took, err := call(t, t.Context(), patient, "http://a.example/"); took != time.Minute || err != nil {
				t.Errorf("%s: patient: %v, %v", limit, took, err)
			}
		})
	}
}

// idle counts how often it is told to close connections.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

// TestTransportClosesIdleConnections: what http.Client asks for reaches the transport
// that has them.
func TestTransportClosesIdleConnections(t *testing.T) {
	next := &idle{RoundTripper: replies(200)}
	client := http.Client{Transport: httplimit.Transport(next)}
	client.CloseIdleConnections()
	if next.closed != 1 {
		t.Errorf("closed %d times", next.closed)
	}
	client.Transport = httplimit.Transport(replies(200)) // has none
	client.CloseIdleConnections()
}
