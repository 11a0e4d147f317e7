package storetest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a test that may fail without failing the test that runs it.
type recorder struct {
	testing.TB
	mu     sync.Mutex // guards the rest
	failed bool
	first  string
}

// record runs a part of the suite and tells how it ended.
func record(t testing.TB, run func(t testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper() {}

func (r *recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failed {
		r.failed, r.first = true, fmt.Sprintf(format, args...)
	}
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}
