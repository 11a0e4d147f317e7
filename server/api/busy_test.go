package api

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

// slowRules is a backend that takes its time with rule files.
type slowRules struct {
	*fake
	finish chan struct{}
}

func (s slowRules) Validate(ctx context.Context, yaml []byte) error {
	<-s.finish
	return s.fake.Validate(ctx, yaml)
}

func (s slowRules) Reload(ctx context.Context, source string) (Change, error) {
	<-s.finish
	return s.fake.Reload(ctx, source)
}

// TestBusy: few rule files are worked on at the same time, while checks go on.
func TestBusy(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		b := slowRules{f, make(chan struct{})}
		h := New(b, Options{})
		validate := func() *httptest.ResponseRecorder {
			return ask(h, "POST", "/v1/rules/validate", sample, contentType("application/yaml"))
		}
		reload := func() *httptest.ResponseRecorder { return ask(h, "POST", "/v1/reload", "") }
		answers := make(chan int, 2)
		go func() { answers <- validate().Code }()
		go func() { answers <- reload().Code }()
		synctest.Wait()
		for name, third := range map[string]func() *httptest.ResponseRecorder{"validate": validate, "reload": reload} {
			w := third()
			wantProblem(t, w, http.StatusServiceUnavailable, "busy", "try again")
			if w.Header().Get("Retry-After") != "1" {
				t.Errorf("%s: %v", name, w.Header())
			}
		}
		if w := ask(h, "POST", "/v1/check", login); w.Code != http.StatusOK {
			t.Errorf("check: status %d", w.Code)
		}
		close(b.finish)
		for range 2 {
			if code := <-answers; code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		}
		for range 2 * maxCompiling {
			if w := validate(); w.Code != http.StatusOK {
				t.Errorf("status %d after they were done", w.Code)
			}
		}
	})
}

// slowRecord is a backend whose records take long to be sent.
type slowRecord struct {
	*fake
	finish chan struct{}
}

func (s slowRecord) Record(string) (iter.Seq[Recorded], error) {
	return func(func(Recorded) bool) { <-s.finish }, nil
}

// TestRecordsHoldUpNoRules: few records are sent at the same time, and whoever reads them
// slowly keeps nobody from bringing other rules into force.
func TestRecordsHoldUpNoRules(t *testing.T) {
	f := newFake(t, sample, nil)
	synctest.Test(t, func(t *testing.T) {
		b := slowRecord{f, make(chan struct{})}
		h := New(b, Options{})
		record := func() *httptest.ResponseRecorder { return ask(h, "GET", "/v1/rules/login/record", "") }
		answers := make(chan int, 2)
		for range 2 {
			go func() { answers <- record().Code }()
		}
		synctest.Wait()
		wantProblem(t, record(), http.StatusServiceUnavailable, "busy", "try again")
		if w := ask(h, "POST", "/v1/reload", ""); w.Code != http.StatusOK {
			t.Errorf("reload: status %d", w.Code)
		}
		close(b.finish)
		for range 2 {
			if code := <-answers; code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		}
		if w := record(); w.Code != http.StatusOK {
			t.Errorf("status %d after they were done", w.Code)
		}
	})
}
