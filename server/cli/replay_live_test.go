//go:build !race

package cli_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// mostAsked requests of a log are compared.
const mostAsked = 3000

// door is a backend that only decides.
type door struct {
	api.Backend
	engine *engine.Engine
}

func (d door) Engine() *engine.Engine { return d.engine }

// TestReplayIsTheServer: the handler that answers POST /v1/check, with an engine on a
// clock of our own, says about the first requests of two real logs what the replay says.
// That all of both are decided so by engine and replay, package replay tests.
func TestReplayIsTheServer(t *testing.T) {
	for _, name := range []string{"semicomplete-2015", "wordpress-2016"} {
		t.Run(name, func(t *testing.T) { compareWithServer(t, name) })
	}
}

func compareWithServer(t *testing.T, name string) {
	for _, limit := range []string{
		"token_bucket 20/m burst=40", "leaky_bucket 1/s burst=10", "warm_up 2/s warm_up=10s max_wait=1s",
		"fixed_window 30/m", "sliding_window 30/m", "sliding_window 30/m weighted", "sliding_log 30/m",
	} {
		t.Run(limit, func(t *testing.T) {
			set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.MustParse(limit)}}}}})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Unix(0, 0)
			clock := func() time.Time { return now }
			var handler http.Handler
			different := 0
			log := accesslog.New([]accesslog.Source{accesslog.File(testLogs + name + ".log.gz")}, accesslog.Options{})
			report, err := replay.Run(set, first(mostAsked, log.Entries(t.Context())), replay.Options{Sample: -1, Decided: func(at int64, e *accesslog.Entry, ev *engine.Event) {
				if now = time.UnixMicro(at); handler == nil {
					live, err := engine.New(set, memstore.New(memstore.WithClock(clock)))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = live.Close() })
					handler = api.New(door{engine: live}, api.Options{})
				}
				if said := ask(t, handler, e); said.Allowed != ev.Decision.Allowed || said.RetryAfterMS != (ev.Decision.RetryAfter()+time.Millisecond-1).Milliseconds() {
					if different++; different < 5 {
						t.Errorf("%v at %v: server %+v, replay %v after %v", e.IP, e.At(), said, ev.Decision.Allowed, ev.Decision.RetryAfter())
					}
				}
			}})
			if err != nil || log.Err() != nil || report.Requests != mostAsked || report.Denied == 0 || different > 0 {
				t.Errorf("%d of %d requests differ, %d refused; %v %v", different, report.Requests, report.Denied, err, log.Err())
			}
		})
	}
}

// first ends after n entries.
func first(n int, entries iter.Seq[*accesslog.Entry]) iter.Seq[*accesslog.Entry] {
	return func(yield func(*accesslog.Entry) bool) {
		left := n
		for e := range entries {
			if left--; left < 0 || !yield(e) {
				return
			}
		}
	}
}

// ask asks the server about an entry.
func ask(t *testing.T, h http.Handler, e *accesslog.Entry) (d api.Decision) {
	t.Helper()
	body, err := json.Marshal(api.Request{Method: e.Method, Path: e.Path, Query: e.Query, IP: e.IP.String()})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/check", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return d
}
