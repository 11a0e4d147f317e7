//go:build !race

package cli_test

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
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

// everyAlgorithm is in a size that refuses some of both logs.
var everyAlgorithm = []string{
	"token_bucket 20/m burst=40", "token_bucket 30/m refill=interval", "leaky_bucket 1/s burst=10", "warm_up 2/s warm_up=10s max_wait=1s",
	"fixed_window 30/m", "fixed_window 30/m start=first_hit", "fixed_window 60/d zone=America/New_York",
	"sliding_window 30/m", "sliding_window 30/m weighted", "sliding_log 30/m",
}

// TestReplayIsTheServer: the handler that answers POST /v1/check, with an engine on a
// clock of our own, answers about the requests of two real logs, byte for byte, what the
// replay says: all at the start of their second, in batches, and each at an instant of its
// own. SLUICE_SOAK takes the whole logs. That engine and replay agree on all of both,
// package replay tests every time.
func TestReplayIsTheServer(t *testing.T) {
	most := 3000
	if os.Getenv("SLUICE_SOAK") != "" {
		most = math.MaxInt
	}
	for _, name := range []string{"semicomplete-2015", "wordpress-2016"} {
		entries := firstOf(t, name, most)
		for _, spread := range []replay.Spread{replay.SpreadStart, replay.SpreadRandom} {
			for _, limit := range everyAlgorithm {
				t.Run(name+"/"+string(spread)+"/"+limit, func(t *testing.T) { compareWithServer(t, entries, limit, spread) })
			}
		}
	}
}

// compareWithServer asks a server about requests.
func compareWithServer(t *testing.T, entries []*accesslog.Entry, limit string, spread replay.Spread) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.MustParse(limit)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &asked{t: t, set: set}
	report, err := replay.Run(set, slices.Values(entries), replay.Options{Spread: spread, Sample: -1, Decided: s.decided})
	if err != nil {
		t.Fatal(err)
	}
	s.ask()
	if s.answers != int64(len(entries)) || report.Denied == 0 || s.different > 0 {
		t.Errorf("%d of %d answers differ; %d requests, %d refused", s.different, s.answers, report.Requests, report.Denied)
	}
	t.Logf("%d requests in %d calls, %d refused, %d differences", s.answers, s.calls, report.Denied, s.different)
}

// asked is a server that is asked what a replay decided.
type asked struct {
	t       *testing.T
	set     *rule.Set
	handler http.Handler // nil before the first request
	now     time.Time

	batch api.CheckRequest // of the instant now
	want  []string         // what the replay says to each

	answers, calls, different int64
}

// decided is told of a decision of the replay.
func (s *asked) decided(at int64, e *accesslog.Entry, ev *engine.Event) {
	if at != s.now.UnixMicro() || len(s.want) == api.MaxBatch {
		s.ask()
	}
	if s.now = time.UnixMicro(at); s.handler == nil {
		s.open()
	}
	s.batch.Requests = append(s.batch.Requests, api.Request{
		Method: e.Method, Path: e.Path, Query: e.Query, IP: e.IP.String(),
	})
	d := &ev.Decision
	text, err := json.Marshal(api.Decision{
		Allowed: d.Allowed, Reason: d.Reason.String(), Rule: d.Rule.Name, Limit: d.LimitName, Remaining: d.Remaining(),
		RetryAfterMS: roundUp(d.RetryAfter()), ResetAfterMS: roundUp(d.ResetAfter()), WaitMS: roundUp(d.Wait()),
		Shadow: d.Shadow, Degraded: d.Degraded,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.want = append(s.want, string(text))
}

func roundUp(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// open starts the server, at the time of the first request.
func (s *asked) open() {
	clock := func() time.Time { return s.now }
	live, err := engine.New(s.set, memstore.New(memstore.WithClock(clock)), engine.WithClock(clock))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = live.Close() })
	s.handler = api.New(door{engine: live}, api.Options{})
}

// ask asks about all requests of one instant.
func (s *asked) ask() {
	if len(s.want) == 0 {
		return
	}
	body, err := json.Marshal(s.batch)
	if err != nil {
		s.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/check", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	s.calls++
	s.answers += int64(len(s.want))
	if want := `{"decisions":[` + strings.Join(s.want, ",") + "]}\n"; w.Body.String() != want || w.Code != http.StatusOK {
		if s.different++; s.different < 5 {
			s.t.Errorf("%s at %v: %d\n got %.1000s\nwant %.1000s", body, s.now, w.Code, w.Body, want)
		}
	}
	s.batch.Requests, s.want = s.batch.Requests[:0], s.want[:0]
}

// door is a backend that only decides.
type door struct {
	api.Backend
	engine *engine.Engine
}

func (d door) Engine() *engine.Engine { return d.engine }

// firstOf returns the first requests of a log, as far as they are told to the server.
func firstOf(t *testing.T, name string, most int) (list []*accesslog.Entry) {
	t.Helper()
	log := accesslog.New([]accesslog.Source{accesslog.File(testLogs + name + ".log.gz")}, accesslog.Options{})
	for e := range log.Entries(t.Context()) {
		if len(list) == most {
			break
		}
		kept := *e
		kept.Method, kept.Path, kept.Query = strings.Clone(e.Method), strings.Clone(e.Path), strings.Clone(e.Query)
		kept.Agent, kept.More = "", nil
		list = append(list, &kept)
	}
	if log.Err() != nil || len(list) < min(most, 10_000) {
		t.Fatal(len(list), log.Err())
	}
	return list
}
