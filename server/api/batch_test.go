package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCheckBatch(t *testing.T) {
	h := New(newFake(t, sample, nil), Options{Parallel: 1})
	body := `{"requests":[` + strings.Repeat(login+",", 6) + `{"path":"/api/x","headers":{"x-api-key":"k"}},{"path":"/other"}]}`
	w := ask(h, "POST", "/v1/check", body)
	got := read[Decisions](t, w).Decisions
	if len(got) != 8 {
		t.Fatalf("%d decisions", len(got))
	}
	for i, d := range got[:6] {
		if d.Allowed != (i < 5) {
			t.Errorf("decision %d: %+v", i, d)
		}
	}
	if d := got[6]; !d.Allowed || d.Rule != "api" || d.Limit != "burst" || d.Remaining != 99 {
		t.Errorf("header in another case: %+v", d)
	}
	if d := got[7]; !d.Allowed || d.Rule != "" {
		t.Errorf("no rule: %+v", d)
	}
	full := `{"requests":[` + strings.Repeat(`{"path":"/other"},`, MaxBatch-1) + `{}]}`
	if n := len(read[Decisions](t, ask(h, "POST", "/v1/check", full)).Decisions); n != MaxBatch {
		t.Errorf("%d decisions", n)
	}
}

// TestClientLeaves: a batch ends with its client.
func TestClientLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, decided := newFake(t, sample, nil), 0
	f.decided = func() {
		if decided++; decided == 3 {
			cancel()
		}
	}
	body := `{"requests":[` + strings.Repeat(login+",", 99) + login + `]}`
	w := ask(New(f, Options{}), "POST", "/v1/check", body, func(r *http.Request) { *r = *r.WithContext(ctx) })
	if decided != 3 {
		t.Errorf("%d decided", decided)
	}
	wantProblem(t, w, http.StatusServiceUnavailable, "canceled", "before this was decided")
}

// TestBatchTakesTooLong: what is decided in time is answered.
func TestBatchTakesTooLong(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		f.decided = func() { time.Sleep(4 * time.Second) }
		body := `{"requests":[` + strings.Repeat(login+",", 4) + login + `]}`
		got := read[Decisions](t, ask(New(f, Options{Timeout: 10 * time.Second}), "POST", "/v1/check", body)).Decisions
		if len(got) != 5 {
			t.Fatalf("%d decisions", len(got))
		}
		for i, d := range got {
			if d.Allowed != (i < 3) || !d.Allowed && !strings.Contains(d.Error, context.DeadlineExceeded.Error()) {
				t.Errorf("decision %d: %+v", i, d)
			}
		}
	})
}

// TestBatchTogether: requests that are decided at the same time keep their places.
func TestBatchTogether(t *testing.T) {
	f := newFake(t, "rules: [{name: each, key: [user], limits: [1000/h]}]", nil)
	synctest.Test(t, func(t *testing.T) {
		f.decided = func() { time.Sleep(time.Second) } // as a remote store would
		items := make([]string, 100)
		for i := range items {
			items[i] = fmt.Sprintf(`{"user":"u%d","cost":%d}`, i, i+1)
		}
		began := time.Now()
		w := ask(New(f, Options{Parallel: 25}), "POST", "/v1/check", `{"requests":[`+strings.Join(items, ",")+`]}`)
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("took %v, want 4 rounds of 1 s", took)
		}
		for i, d := range read[Decisions](t, w).Decisions {
			if !d.Allowed || d.Remaining != int64(1000-i-1) {
				t.Errorf("decision %d: %+v", i, d)
			}
		}
	})
}

// TestBatchPanics: a fault in one decision does not end the process.
func TestBatchPanics(t *testing.T) {
	f := newFake(t, sample, nil)
	f.decided = func() { panic("a fault") }
	w := ask(New(f, Options{Parallel: 2}), "POST", "/v1/check", `{"requests":[{},{}]}`)
	for _, d := range read[Decisions](t, w).Decisions {
		if d.Allowed || d.Reason != "error" || !strings.Contains(d.Error, "panicked") {
			t.Errorf("%+v", d)
		}
	}
}
