package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestPlaces: every endpoint but the few that are needed under overload is turned away
// when all places are taken, and gives its place back.
func TestPlaces(t *testing.T) {
	var shed atomic.Int64
	places := NewPlaces(1, func() { shed.Add(1) })
	metrics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	done := make(chan struct{})
	close(done)
	f := newFake(t, sample, nil)
	h := New(f, Options{Places: places, Metrics: metrics, Done: done}).(*handler)
	bodies := map[string]string{
		"/v1/shadow-all": `{"on":false}`, "/v1/rules/validate": sample, "/v1/commit": `{"id":"x","actual":1}`,
		"/v1/refund": `{"path":"/","cost":1}`, "/v1/reload": "",
	}
	for _, route := range h.routes() {
		path := strings.Replace(route.path, "{name}", "login", 1)
		body, own := bodies[path]
		if route.method == http.MethodPost && !own {
			body = login
		}
		change := contentType("application/json")
		if path == "/v1/rules/validate" {
			change = contentType("application/yaml")
		}
		if free := ask(h, route.method, path, body, change); free.Code == http.StatusServiceUnavailable {
			t.Errorf("%s with a place: %d %s", path, free.Code, free.Body)
		}
		if places.Taken() != 0 {
			t.Fatalf("%s keeps its place", path)
		}
		places.Enter()
		full := ask(h, route.method, path, body, change)
		places.Leave()
		if needed := path == "/healthz" || path == "/readyz" || path == "/metrics" || path == "/v1/events"; needed {
			if full.Code == http.StatusServiceUnavailable {
				t.Errorf("%s is turned away", path)
			}
			continue
		}
		wantProblem(t, full, http.StatusServiceUnavailable, "overloaded", "try again")
		if shed.Swap(0) != 1 || full.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: %v", path, full.Header())
		}
	}
}

// dribble is a body that comes when the test wants.
type dribble struct{ parts chan string }

func (d dribble) Read(b []byte) (int, error) {
	part, ok := <-d.parts
	if !ok {
		return 0, io.EOF
	}
	return copy(b, part), nil
}

// TestSlowBodiesHoldNoPlace: who sends slowly keeps nobody from being answered.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		places := NewPlaces(1, nil)
		h := New(f, Options{Places: places})
		for _, length := range []int64{int64(len(login)), -1} {
			body := dribble{make(chan string)}
			slow := httptest.NewRecorder()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				r := httptest.NewRequest("POST", "http://127.0.0.1/v1/check", body)
				r.ContentLength = length
				r.Header.Set("Content-Type", "application/json")
				h.ServeHTTP(slow, r)
			}()
			body.parts <- login[:5]
			synctest.Wait()
			if places.Taken() != 0 {
				t.Errorf("length %d: half a body has a place", length)
			}
			if w := ask(h, "POST", "/v1/check", login); w.Code != http.StatusOK {
				t.Errorf("length %d: another one gets %d", length, w.Code)
			}
			body.parts <- login[5:]
			if length < 0 {
				close(body.parts)
			}
			<-ended
			if slow.Code != http.StatusOK || places.Taken() != 0 {
				t.Errorf("length %d: %d, %d places are taken", length, slow.Code, places.Taken())
			}
		}
	})
}

// writer is told when an answer is written.
type writer struct {
	*httptest.ResponseRecorder
	writes func()
}

func (w *writer) Write(b []byte) (int, error) {
	w.writes()
	return w.ResponseRecorder.Write(b)
}

// TestLongAnswersHoldNoPlace: nor does who is slow to take a long answer.
func TestLongAnswersHoldNoPlace(t *testing.T) {
	for _, parallel := range []int{1, 8} {
		places := NewPlaces(1, nil)
		h := New(newFake(t, sample, nil), Options{Places: places, Parallel: parallel})
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/check", strings.NewReader(`{"requests":[`+login+`,`+login+`]}`))
		r.Header.Set("Content-Type", "application/json")
		written := false
		h.ServeHTTP(&writer{httptest.NewRecorder(), func() {
			if written = true; places.Taken() != 0 {
				t.Errorf("it has a place while it writes, with %d at a time", parallel)
			}
		}}, r)
		if !written || places.taken.Load() != 0 {
			t.Errorf("written %v, %d places are taken", written, places.taken.Load())
		}
	}
}

// TestBodiesShareMemory: all bodies together take no more than their share, and small ones
// are read when large ones have taken all of it.
func TestBodiesShareMemory(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{Places: NewPlaces(10, nil)}).(*handler)
	h.bodies.limit = 100 << 10
	large := login + strings.Repeat(" ", 60<<10)
	unknown := func(r *http.Request) { r.ContentLength = -1 }
	for _, change := range []func(*http.Request){func(*http.Request) {}, unknown} {
		if w := ask(h, "POST", "/v1/check", large, change); w.Code != http.StatusOK {
			t.Errorf("one large body: %d %s", w.Code, w.Body)
		}
		if got := h.bodies.taken.Load(); got != 0 {
			t.Errorf("%d bytes are not given back", got)
		}
		h.bodies.taken.Store(90 << 10) // by others
		wantProblem(t, ask(h, "POST", "/v1/check", large, change), http.StatusServiceUnavailable, "overloaded", "try again")
		if w := ask(h, "POST", "/v1/check", login, change); w.Code != http.StatusOK {
			t.Errorf("a small body: %d", w.Code)
		}
		if got := h.bodies.taken.Swap(0); got != 90<<10 {
			t.Errorf("%d bytes are taken", got)
		}
	}
	if h := New(f, Options{MaxBody: 1 << 30}).(*handler); h.bodies.limit < 2<<30 {
		t.Error("two of the largest bodies do not fit")
	}
}

// TestAuthorizedIsTold: of whoever may ask, and of nobody else.
func TestAuthorizedIsTold(t *testing.T) {
	told := 0
	h := New(newFake(t, sample, nil), Options{Tokens: [][32]byte{HashToken("a token of this test")}, Authorized: func(*http.Request) { told++ }})
	for _, c := range []struct {
		path, token string
		told        int
	}{{"/healthz", "a token of this test", 0}, {"/v1/rules", "", 0}, {"/v1/rules", "another", 0}, {"/v1/rules", "a token of this test", 1}} {
		told = 0
		ask(h, "GET", c.path, "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+c.token) })
		if told != c.told {
			t.Errorf("%s with %q: told %d times", c.path, c.token, told)
		}
	}
}
