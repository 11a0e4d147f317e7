package api

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sluice-limiter/sluice/engine"
)

// TestHostileBodies: each is refused, with the field and what to do.
func TestHostileBodies(t *testing.T) {
	for name, c := range map[string]struct {
		path, body        string
		status            int
		word, field, says string
	}{
		"no body":            {body: "", status: 415, word: "unsupported-media-type", says: "Content-Type is missing"},
		"blank":              {body: "  ", status: 400, word: "invalid-body", says: "empty"},
		"null":               {body: "null", status: 400, word: "invalid-body", says: "no object"},
		"list":               {body: "[{}]", status: 400, word: "invalid-body", says: "no object"},
		"cut off":            {body: `{"path":"/a"`, status: 400, word: "invalid-body", says: "ends in the middle"},
		"no JSON":            {body: "{\n\"path\": /a}", status: 400, word: "invalid-body", says: "line 2 column 9"},
		"two":                {body: `{} {}`, status: 400, word: "invalid-body", says: "line 1 column 4"},
		"unknown":            {body: `{"paht":"/a"}`, status: 400, word: "invalid-field", field: "paht", says: "method, host, path"},
		"other case":         {body: `{"Path":"/a"}`, status: 400, word: "invalid-field", field: "Path", says: "lower case"},
		"twice":              {body: `{"path":"/a","path":"/b"}`, status: 400, word: "invalid-field", field: "path", says: "twice"},
		"header twice":       {body: `{"headers":{"a":"","A":""}}`, status: 400, word: "invalid-field", field: "headers", says: "twice"},
		"attribute twice":    {body: `{"attributes":{"a":"","a":""}}`, status: 400, word: "invalid-field", field: "attributes.a", says: "twice"},
		"number for text":    {body: `{"path":5}`, status: 400, word: "invalid-field", field: "path", says: "give a text in quotes"},
		"text for number":    {body: `{"cost":"5"}`, status: 400, word: "invalid-field", field: "cost", says: "give a whole number"},
		"fraction":           {body: `{"cost":1.5}`, status: 400, word: "invalid-field", field: "cost", says: "is the number 1.5"},
		"too large a number": {body: `{"cost":99999999999999999999}`, status: 400, word: "invalid-field", field: "cost", says: "whole number"},
		"cost":               {body: `{"cost":1000000000000001}`, status: 400, word: "invalid-field", field: "cost", says: "1e15"},
		"negative cost":      {body: `{"cost":-1}`, status: 400, word: "invalid-field", field: "cost", says: "out of range"},
		"length":             {body: `{"length":-2}`, status: 400, word: "invalid-field", field: "length", says: "-1"},
		"address":            {body: `{"ip":"1.2.3.4:80"}`, status: 400, word: "invalid-field", field: "ip", says: "without port"},
		"two queries":        {body: `{"path":"/a?b","query":"c"}`, status: 400, word: "invalid-field", field: "query", says: "twice"},
		"object for map":     {body: `{"headers":{"a":{}}}`, status: 400, word: "invalid-field", field: "headers", says: "an object"},
		"not UTF-8":          {body: "{\"path\":\"\xff\"}", status: 400, word: "invalid-body", says: "UTF-8"},
		"many headers":       {body: `{"headers":{` + many(most+1) + `}}`, status: 400, word: "invalid-field", field: "headers", says: "more than 100"},
		"empty batch":        {body: `{"requests":[]}`, status: 400, word: "invalid-field", field: "requests", says: "1 to 1000"},
		"huge batch":         {body: `{"requests":[` + strings.Repeat("{},", MaxBatch) + `{}]}`, status: 400, word: "invalid-field", field: "requests", says: "more than 1000"},
		"batch and one":      {body: `{"requests":[{}],"path":"/"}`, status: 400, word: "invalid-field", field: "requests", says: "beside"},
		"batch and status":   {body: `{"requests":[{}],"status":true}`, status: 400, word: "invalid-field", field: "status", says: "batch"},
		"batch and query":    {path: "/v1/check?status=429", body: `{"requests":[{}]}`, status: 400, word: "invalid-field", field: "status", says: "batch"},
		"in a batch":         {body: `{"requests":[{},{"ip":"x"}]}`, status: 400, word: "invalid-field", field: "requests[1].ip", says: "no IP address"},
		"name in a batch":    {body: `{"requests":[{},{"User":"x"}]}`, status: 400, word: "invalid-field", field: "requests[1].User", says: "lower case"},
		"deep":               {body: strings.Repeat(`{"requests":[`, 20000), status: 400, word: "invalid-body", says: "depth"},
		"deep list":          {body: `{"path":` + strings.Repeat(`[`, 20000), status: 400, word: "invalid-body", says: "depth"},
		"too large":          {body: `{"path":"` + strings.Repeat("a", defaultMaxBody) + `"}`, status: 413, word: "too-large", says: "1048576"},
		"query":              {path: "/v1/check?statsu=429", body: `{}`, status: 400, word: "invalid-field", field: "statsu", says: "may hold status"},
		"status":             {path: "/v1/check?status=200", body: `{}`, status: 400, word: "invalid-field", field: "status", says: "?status=429"},
		"broken query":       {path: "/v1/check?a;b", body: `{}`, status: 400, word: "invalid-query", says: "semicolon"},
		"status of peek":     {path: "/v1/peek", body: `{"status":false}`, status: 400, word: "invalid-field", field: "status", says: "not known"},
		"batch of peek":      {path: "/v1/peek", body: `{"requests":[{}]}`, status: 400, word: "invalid-field", field: "requests", says: "not known"},
		"query of peek":      {path: "/v1/peek?a=1", body: `{}`, status: 400, word: "invalid-field", field: "a", says: "no query"},
		"refund of nothing":  {path: "/v1/refund", body: login, status: 400, word: "invalid-field", field: "cost", says: "missing"},
		"commit without id":  {path: "/v1/commit", body: `{"actual":1}`, status: 400, word: "invalid-field", field: "id", says: "missing"},
		"commit of nothing":  {path: "/v1/commit", body: `{"id":"a"}`, status: 400, word: "invalid-field", field: "actual", says: "missing"},
		"commit of a text":   {path: "/v1/commit", body: `{"id":"a","actual":"1"}`, status: 400, word: "invalid-field", field: "actual", says: "a string"},
		"long id":            {path: "/v1/commit", body: strings.Replace(login, "{", `{"actual":1,"id":"`+strings.Repeat("x", 2000)+`",`, 1), status: 400, word: "invalid-field", field: "id", says: "1024"},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(newFake(t, sample, nil), Options{})
			if c.path == "" {
				c.path = "/v1/check"
			}
			p := wantProblem(t, ask(h, "POST", c.path, c.body), c.status, c.word, c.says)
			if p.Field != c.field || c.field != "" && !strings.HasPrefix(p.Detail, c.field+": ") {
				t.Errorf("field %q, detail %q; want %q", p.Field, p.Detail, c.field)
			}
		})
	}
}

func TestContentTypes(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for kind, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true, "application/json;charset=UTF-8": true,
		"application/json; charset=latin1": false, "text/plain": false, "application/x-www-form-urlencoded": false, "": false, "a/b/c": false,
	} {
		w := ask(h, "POST", "/v1/check", "{}", contentType(kind))
		if ok && w.Code != http.StatusOK {
			t.Errorf("%q: status %d", kind, w.Code)
		}
		if !ok {
			wantProblem(t, w, http.StatusUnsupportedMediaType, "unsupported-media-type", "application/json")
		}
	}
	wantProblem(t, ask(h, "POST", "/v1/check", "{}", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }),
		http.StatusUnsupportedMediaType, "unsupported-media-type", "gzip")
}

// chunked hides the length of a body.
func chunked(r *http.Request) { r.ContentLength = -1 }

func TestBodyWithoutLength(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{MaxBody: 8192})
	if w := ask(h, "POST", "/v1/check", `{"path":"/`+strings.Repeat("a", 8000)+`"}`, chunked); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	wantProblem(t, ask(h, "POST", "/v1/check", strings.Repeat(" ", 8193), chunked), http.StatusRequestEntityTooLarge, "too-large", "8192")
	wantProblem(t, ask(h, "POST", "/v1/check", strings.Repeat(" ", 8192), chunked), http.StatusBadRequest, "invalid-body", "empty")
}

// TestBodyEndsAtOnce: a body that comes in one piece with its end is measured too.
func TestBodyEndsAtOnce(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{MaxBody: 10})
	for body, status := range map[string]int{`{}`: http.StatusOK, `{"path":"/a"}`: http.StatusRequestEntityTooLarge} {
		w := ask(h, "POST", "/v1/check", body, func(r *http.Request) {
			r.ContentLength, r.Body = -1, io.NopCloser(iotest.DataErrReader(strings.NewReader(body)))
		})
		if w.Code != status {
			t.Errorf("%s: status %d, want %d", body, w.Code, status)
		}
	}
}

func TestBodyEndsEarly(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	wantProblem(t, ask(h, "POST", "/v1/check", "{}", func(r *http.Request) { r.ContentLength = 100 }), http.StatusBadRequest, "invalid-body", "Content-Length")
	wantProblem(t, ask(h, "POST", "/v1/check", "{}", func(r *http.Request) {
		r.ContentLength, r.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	}), http.StatusRequestTimeout, "incomplete-body", "pauses")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, http.ErrHandlerTimeout }

func TestRouting(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{})
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/checks", "/v1/check/", "/V1/check", "/metrics", "/v1/rules/"} {
		wantProblem(t, ask(h, "GET", path, ""), http.StatusNotFound, "not-found", "openapi.json")
	}
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/v1/check", "POST"},
		{"DELETE", "/v1/rules", "GET, HEAD"},
		{"POST", "/v1/shadow-all", "PUT"},
		{"PUT", "/v1/rules/login", "GET, HEAD"},
		{"DELETE", "/v1/rules/validate", "GET, HEAD, POST"},
		{"BREW", "/healthz", "GET, HEAD"},
	} {
		w := ask(h, c.method, c.path, "")
		wantProblem(t, w, http.StatusMethodNotAllowed, "method-not-allowed", "use "+c.allow)
		if got := w.Header().Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got, c.allow)
		}
	}
	if w := ask(h, "HEAD", "/v1/rules", ""); w.Code != http.StatusOK {
		t.Errorf("HEAD: status %d", w.Code)
	}
}

// panicking is a backend with a fault.
type panicking struct{ Backend }

func (panicking) Engine() *engine.Engine { panic("a fault") }

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	h := New(panicking{}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	p := wantProblem(t, ask(h, "GET", "/v1/stats", ""), http.StatusInternalServerError, "internal", "log")
	if strings.Contains(p.Detail, "fault") || !strings.Contains(log.String(), "a fault") {
		t.Errorf("problem %+v, log %q", p, &log)
	}
}

// TestForeignPages: a page in a browser cannot change anything.
func TestForeignPages(t *testing.T) {
	f := newFake(t, sample, nil)
	h := New(f, Options{})
	wantProblem(t, ask(h, "POST", "/v1/reload", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
		http.StatusForbidden, "cross-origin", "another site")
	wantProblem(t, ask(h, "POST", "/v1/reload", "", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }),
		http.StatusForbidden, "cross-origin", "another site")
	if len(f.Audit(1)) != 0 {
		t.Error("reloaded")
	}
	if w := ask(h, "POST", "/v1/reload", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }); w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

// FuzzCheck: whatever is sent, the answer is decisions, or a problem with the body.
func FuzzCheck(f *testing.F) {
	for _, body := range slices.Concat(quickly, slowly) {
		f.Add(body)
	}
	h := New(newFake(f, sample, nil), Options{})
	f.Fuzz(func(t *testing.T, body string) {
		w := ask(h, "POST", "/v1/check", body, contentType("application/json"))
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest || !json.Valid(w.Body.Bytes()) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
