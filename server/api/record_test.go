package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRecord: all that is remembered, however many pieces it takes.
func TestRecord(t *testing.T) {
	f := newFake(t, sample, nil)
	want := []string{"time,key,cost"}
	for i := range 5000 {
		one := Recorded{At: start.UnixMicro() + int64(i), Key: 36 + uint64(i%7), Cost: int64(1 + i%3)}
		f.recorded = append(f.recorded, one)
		want = append(want, fmt.Sprintf("%d,1%d,%d", one.At, i%7, one.Cost))
	}
	h := New(f, Options{})
	w := ask(h, "GET", "/v1/rules/login/record", "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv" || w.Body.String() != strings.Join(want, "\n")+"\n" {
		t.Errorf("%d %v: %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	if w := ask(h, "HEAD", "/v1/rules/login/record", ""); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("%d: %d bytes", w.Code, w.Body.Len())
	}
	wantProblem(t, ask(h, "GET", "/v1/rules/nobody/record", ""), http.StatusNotFound, "not-found", `no rule "nobody"`)
	wantProblem(t, ask(h, "GET", "/v1/rules/login/record?limit=1/s", ""), http.StatusBadRequest, "invalid-field", "limit")
	f.unrecorded = true
	wantProblem(t, ask(h, "GET", "/v1/rules/login/record", ""), http.StatusConflict, "no-record", "record.memory")
}

// TestRecordIsCutOff: of a server that stops in the middle nobody takes the beginning for
// the whole.
func TestRecordIsCutOff(t *testing.T) {
	f := newFake(t, sample, nil)
	f.recorded = make([]Recorded, 100_000)
	stopped := make(chan struct{})
	close(stopped)
	server := httptest.NewServer(New(f, Options{Done: stopped}))
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/v1/rules/login/record")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := response.Body.Read(make([]byte, 1<<20)); n == 0 && err == nil {
		t.Fatal("nothing")
	}
	for err == nil {
		_, err = response.Body.Read(make([]byte, 1<<20))
	}
	if !strings.Contains(err.Error(), "unexpected EOF") {
		t.Error(err)
	}
}
