package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

const login = `{"method":"POST","path":"/login","ip":"192.0.2.1"}`

func TestCheck(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for i := range 5 {
		d := read[Decision](t, ask(h, "POST", "/v1/check", login))
		want := Decision{Allowed: true, Rule: "login", Limit: "per-minute", Remaining: int64(4 - i), ResetAfterMS: int64(12000 * (i + 1))}
		if d != want {
			t.Fatalf("check %d: %+v, want %+v", i, d, want)
		}
	}
	w := ask(h, "POST", "/v1/check", login)
	if d := read[Decision](t, w); w.Code != http.StatusOK || d.Allowed || d.Reason != "limited" || d.RetryAfterMS != 12000 {
		t.Fatalf("status %d: %+v", w.Code, d)
	}
	if kind := w.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	if w.Header().Get("Retry-After") != "" {
		t.Error("header fields without being asked")
	}
}

func TestCheckStatus(t *testing.T) {
	for name, ask429 := range map[string]func(h http.Handler) (int, http.Header){
		"query": func(h http.Handler) (int, http.Header) {
			w := ask(h, "POST", "/v1/check?status=429", login)
			return w.Code, w.Header()
		},
		"body": func(h http.Handler) (int, http.Header) {
			w := ask(h, "POST", "/v1/check", strings.Replace(login, "{", `{"status":true,`, 1))
			return w.Code, w.Header()
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(newFake(t, sample, nil), Options{})
			for range 5 {
				if status, _ := ask429(h); status != http.StatusOK {
					t.Fatalf("status %d of an allowed request", status)
				}
			}
			status, header := ask429(h)
			if status != http.StatusTooManyRequests || header.Get("Retry-After") != "12" || header.Get("RateLimit") != `"per-minute";r=0;t=12` {
				t.Errorf("status %d, %v", status, header)
			}
		})
	}
}

// TestEncoder: decisions are written as encoding/json writes the wire type.
func TestEncoder(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for _, body := range []string{login, login, login, login, login, login, `{}`, `{"attributes":{"app":"web"},"user":"u"}`, `{"path":"/a%2fb"}`, `{"method":"POST","path":"/login","ip":"::1","cost":9}`} {
		w := ask(h, "POST", "/v1/check", body)
		line := w.Body.String()
		d := read[Decision](t, w)
		want, err := json.Marshal(d)
		if err != nil || line != string(want)+"\n" {
			t.Errorf("%s:\n got %swant %s", body, line, want)
		}
	}
}

func TestAppendText(t *testing.T) {
	for _, text := range []string{"", "per-minute", `a"b`, `a\b`, "<&>", "é\u2028", "\x00\x7f", "\xff"} {
		want, err := json.Marshal(text)
		if got := appendText(nil, text); err != nil || string(got) != string(want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestOtherVerbs(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	remaining := func() int64 { return read[Decision](t, ask(h, "POST", "/v1/peek", login)).Remaining }
	done := func(path, body string) {
		t.Helper()
		if w := ask(h, "POST", path, body); w.Code != http.StatusNoContent || w.Body.Len() != 0 {
			t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
		}
	}
	for range 2 {
		if n := remaining(); n != 4 {
			t.Errorf("peek spends: %d remain", n)
		}
	}
	r := read[Reservation](t, ask(h, "POST", "/v1/reserve", strings.Replace(login, "{", `{"cost":3,`, 1)))
	if !r.Allowed || r.ID == "" || remaining() != 1 {
		t.Fatalf("reserved: %+v", r)
	}
	commit := strings.Replace(login, "{", fmt.Sprintf(`{"id":%q,"actual":1,`, r.ID), 1)
	done("/v1/commit", commit)
	if remaining() != 3 {
		t.Errorf("after commit %d remain", remaining())
	}
	wantProblem(t, ask(h, "POST", "/v1/commit", commit), http.StatusConflict, "settled", "once")
	done("/v1/refund", strings.Replace(login, "{", `{"cost":1,`, 1))
	if remaining() != 4 {
		t.Errorf("after refund %d remain", remaining())
	}
	if d := read[Reservation](t, ask(h, "POST", "/v1/reserve", strings.Replace(login, "{", `{"cost":9,`, 1))); d.Allowed || d.ID != "" || d.Reason != "never" {
		t.Errorf("reserved more than there is: %+v", d)
	}
	ask(h, "POST", "/v1/check", login)
	done("/v1/reset", login)
	if remaining() != 4 {
		t.Errorf("after reset %d remain", remaining())
	}
}

func TestExplain(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	x := read[Explanation](t, ask(h, "POST", "/v1/explain", `{"method":"POST","path":"//login/","ip":"192.0.2.1"}`))
	if !x.Decision.Allowed || x.Path != "/login" || x.Calls != 1 || len(x.Rules) != 3 {
		t.Fatalf("%+v", x)
	}
	r := x.Rules[0]
	if r.Rule != "login" || !r.Matches || r.Mode != "enforce" || r.Cost != 1 || r.Key != "192.0.2.1" || len(r.Limits) != 1 {
		t.Fatalf("%+v", r)
	}
	if l := r.Limits[0]; l.Name != "per-minute" || l.Limit != "5/m" || !l.Allowed || l.Remaining != 4 || l.Scope != "cluster" {
		t.Errorf("%+v", l)
	}
	if x.Rules[1].Matches || x.Rules[1].Why == "" || x.Rules[1].Limits == nil {
		t.Errorf("%+v", x.Rules[1])
	}
}

// scattered is a store in which every key lies in a slot of its own.
type scattered struct{ store.Store }

// Calls implements [store.Spread].
func (scattered) Calls(checks []store.Check) int {
	keys := map[string]bool{}
	for i := range checks {
		keys[checks[i].Key] = true
	}
	return len(keys)
}

// TestExplainTellsOfCalls: who asks learns whether others can see what is spent before all
// of it is decided.
func TestExplainTellsOfCalls(t *testing.T) {
	h := New(newFake(t, sample, scattered{memstore.New()}), Options{})
	for body, want := range map[string]int{
		`{"path":"/nobody"}`: 0,
		login:                1,
		`{"method":"POST","path":"/login","ip":"192.0.2.1","user":"ann","attributes":{"app":"web"}}`: 2,
	} {
		if x := read[Explanation](t, ask(h, "POST", "/v1/explain", body)); x.Calls != want {
			t.Errorf("%s: %d calls, want %d", body, x.Calls, want)
		}
	}
}

// TestStoreFails: what cannot be decided is 503, in a batch an error of its own.
func TestStoreFails(t *testing.T) {
	h := New(newFake(t, sample, failing{errStore}), Options{})
	w := ask(h, "POST", "/v1/check", login)
	wantProblem(t, w, http.StatusServiceUnavailable, "unavailable", "on fire")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	for _, path := range []string{"/v1/peek", "/v1/explain", "/v1/reset", "/v1/reserve"} {
		wantProblem(t, ask(h, "POST", path, login), http.StatusServiceUnavailable, "unavailable", "on fire")
	}
	d := read[Decisions](t, ask(h, "POST", "/v1/check", `{"requests":[`+login+`]}`)).Decisions[0]
	if d.Allowed || d.Reason != "error" || !strings.Contains(d.Error, "on fire") {
		t.Errorf("%+v", d)
	}
}

func TestUndecidedWords(t *testing.T) {
	for err, word := range map[error]string{
		store.ErrKey: "invalid-key", store.ErrCost: "invalid-field", store.ErrID: "invalid-field", store.ErrOp: "not-supported",
		store.ErrTooMany: "not-supported", context.DeadlineExceeded: "timeout", errors.New("else"): "unavailable",
	} {
		if p := undecided(fmt.Errorf("engine: check: %w", err)); p.Type != problemTypes+word {
			t.Errorf("%v: %+v", err, p)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]int64{0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Minute: 60000} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v: %d, want %d", d, got, want)
		}
	}
}

// TestConvert: who asks an engine directly can tell the same as the API.
func TestConvert(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	request := engine.Request{Method: "POST", Path: "/login", IP: netip.MustParseAddr("192.0.2.1")}
	d, err := f.engine.Peek(t.Context(), request)
	if want := read[Decision](t, ask(h, "POST", "/v1/peek", login)); err != nil || DecisionOf(&d) != want {
		t.Errorf("%+v, want %+v, %v", DecisionOf(&d), want, err)
	}
	x, err := f.engine.Explain(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if want := read[Explanation](t, ask(h, "POST", "/v1/explain", login)); !reflect.DeepEqual(ExplanationOf(x), want) {
		t.Errorf("%+v, want %+v", ExplanationOf(x), want)
	}
}

// TestTell: what a denial tells in header fields.
func TestTell(t *testing.T) {
	h := New(newFake(t, "default: deny\nrules:\n - {name: ban, key: [user], limits: [0/s]}\n - {name: quiet, match: {paths: [/quiet]}, headers: none, limits: [1/h]}\n - {name: old, match: {paths: [/old]}, headers: legacy, limits: [1/h]}\n", nil), Options{})
	tells := func(body, after, limit string) {
		t.Helper()
		header := ask(h, "POST", "/v1/check", body).Header()
		if header.Get("Retry-After") != after || header.Get("RateLimit") != limit {
			t.Errorf("%s: %v", body, header)
		}
	}
	tells(`{"status":true}`, "", "")                     // no rule is to blame
	tells(`{"status":true,"user":"a"}`, "", `"ban";r=0`) // coming back is in vain
	tells(`{"status":true,"path":"/quiet"}`, "", "")     // allowed
	tells(`{"status":true,"path":"/quiet"}`, "3600", "") // the rule wants no field but this
	for range 2 {
		header := ask(h, "POST", "/v1/check", `{"status":true,"path":"/old"}`).Header()
		if denied := header.Get("Retry-After") != ""; denied != (header.Get("X-RateLimit-Limit") == "1") || header.Get("RateLimit") != "" {
			t.Errorf("in the dialect of the rule: %v", header)
		}
	}
}
