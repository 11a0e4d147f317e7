package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
	"github.com/sluice-limiter/sluice/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the time at which tests begin; it stands still.
var start = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// sample is a rule file with something of everything.
const sample = `
rules:
  - name: login
    match: {methods: [POST], paths: [/login]}
    key: [ip]
    limits: [{name: per-minute, limit: 5/m}]
  - name: api
    match: {paths: [/api/*], headers: {X-Api-Key: "*"}}
    key: [header:X-Api-Key]
    limits: [{name: burst, limit: 100/s}, {name: daily, limit: 10000/d}]
    candidate: [50/s]
  - name: upload
    match: {attributes: {app: web}}
    key: [user]
    mode: shadow
    limits: [1/h]
`

// fake is a Backend over a real engine in memory.
type fake struct {
	engine  *engine.Engine
	version Version
	decided func() // called for every decision

	mu       sync.Mutex
	entries  []audit.Entry
	readers  map[chan audit.Entry]bool
	notReady error
	broken   error // of the next reloads

	unrecorded bool // it keeps no record of its traffic
	recorded   []Recorded
}

func newFake(t testing.TB, text string, s store.Store) *fake {
	t.Helper()
	loaded, err := rulefile.Parse("rules.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{version: Version{Hash: "4c1f", Loaded: start, Source: "rules.yaml"}, readers: map[chan audit.Entry]bool{}}
	e, err := engine.New(loaded.Set, s, engine.WithClock(func() time.Time { return start }), engine.WithObserver(f))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	f.engine = e
	return f
}

// Observe is told of every decision.
func (f *fake) Observe(*engine.Event) {
	if f.decided != nil {
		f.decided()
	}
}

func (f *fake) Engine() *engine.Engine        { return f.engine }
func (f *fake) Rules() (rule.Config, Version) { return f.engine.Set().Config(), f.version }

func (f *fake) Validate(_ context.Context, yaml []byte) error {
	loaded, err := rulefile.Parse("body", yaml)
	if err == nil && len(loaded.Warnings) > 0 {
		return rulefile.Problems(loaded.Warnings)
	}
	return err
}

func (f *fake) Reload(ctx context.Context, source string) (Change, error) {
	if f.broken != nil {
		return Change{}, f.broken
	}
	if err := ctx.Err(); err != nil {
		return Change{}, err
	}
	lines := []string{"rule login: 5/m → 10/m"}
	f.add(audit.Entry{Time: start, Source: source, Action: "reload", Lines: lines, Hash: "77aa"})
	return Change{Before: f.version, After: Version{Hash: "77aa", Loaded: start, Source: "rules.yaml"}, Lines: lines}, nil
}

func (f *fake) Rollback(_ context.Context, source string) (Change, error) {
	switch {
	case f.broken != nil:
		return Change{}, f.broken
	case len(f.Audit(1)) == 0:
		return Change{}, ErrNoPrevious
	}
	lines := []string{"rule login: 10/m → 5/m"}
	f.add(audit.Entry{Time: start, Source: source, Action: "rollback", Lines: lines, Hash: f.version.Hash})
	return Change{Before: Version{Hash: "77aa", Loaded: start, Source: "rules.yaml"}, After: f.version, Lines: lines}, nil
}

func (f *fake) ShadowAll(_ context.Context, on bool, source string) {
	f.engine.ShadowAll(on)
	f.add(audit.Entry{Time: start, Source: source, Action: "shadow-all"})
}

func (f *fake) Preview(_ context.Context, name string, limits []sluice.Limit) (Preview, error) {
	if f.unrecorded {
		return Preview{}, ErrNoRecord
	}
	for _, c := range f.engine.Set().Rules() {
		if c.Name == name {
			p := Preview{Rule: name, From: start.Add(-time.Hour), To: start, Requests: 7211, Keys: 318}
			p.InForce = PreviewOutcome{Limits: []string{c.Limits[0].Limit.String()}, Denied: 12, KeysDenied: 2}
			p.With = p.InForce
			if len(limits) > 0 {
				p.With = PreviewOutcome{Limits: []string{limits[0].String()}, Denied: 41, KeysDenied: 5}
			}
			return p, nil
		}
	}
	return Preview{}, ErrNoRule
}

func (f *fake) Record(name string) (iter.Seq[Recorded], error) {
	if f.unrecorded {
		return nil, ErrNoRecord
	}
	for _, c := range f.engine.Set().Rules() {
		if c.Name == name {
			return slices.Values(f.recorded), nil
		}
	}
	return nil, ErrNoRule
}

func (f *fake) Note(source, action string, _ engine.Request, failed error) {
	e := audit.Entry{Time: start, Source: source, Action: action}
	if failed != nil {
		e.Error = failed.Error()
	}
	f.add(e)
}

func (f *fake) add(e audit.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries = append([]audit.Entry{e}, f.entries...)
	for reader := range f.readers {
		reader <- e
	}
}

func (f *fake) Audit(n int) []audit.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entries[:min(n, len(f.entries))]
}

func (f *fake) Subscribe() (<-chan audit.Entry, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reader := make(chan audit.Entry, 16)
	f.readers[reader] = true
	return reader, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, reader)
	}
}

func (f *fake) subscribers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers)
}

func (f *fake) Ready() error { return f.notReady }

// failing is a store that cannot decide, for which no policy helps.
type failing struct{ err error }

var errStore = fmt.Errorf("the store is on fire: %w", store.ErrFull)

func (f failing) Take(context.Context, store.Op, []store.Check) error { return f.err }

// ask sends a body to a handler and returns the answer.
func ask(h http.Handler, method, target, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	var reader io.Reader = http.NoBody
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	r.Host = "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// contentType is a change for ask.
func contentType(kind string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Content-Type", kind) }
}

// read decodes an answer strictly.
func read[T any](t testing.TB, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("status %d: %v", w.Code, err)
	}
	return v
}

// wantProblem checks an answer that is an error.
func wantProblem(t testing.TB, w *httptest.ResponseRecorder, status int, word, says string) Problem {
	t.Helper()
	if kind := w.Header().Get("Content-Type"); w.Code != status || kind != "application/problem+json" {
		t.Fatalf("status %d, type %q; want %d and a problem: %s", w.Code, kind, status, w.Body)
	}
	p := read[Problem](t, w)
	if p.Status != status || p.Type != problemTypes+word || p.Title == "" || !strings.Contains(p.Detail+" | "+p.Hint, says) {
		t.Fatalf("problem %+v; want %s that says %q", p, word, says)
	}
	return p
}
