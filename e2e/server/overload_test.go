package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestOverload: more than it takes is answered with 503 and Retry-After at once, the
// memory keeps to GOMEMLIMIT, and afterwards all is as before.
func TestOverload(t *testing.T) {
	const limit = 96 << 20
	s := start(t, "rules: [{name: all, key: [user], limits: [1000000/s]}]\n",
		fmt.Sprintf("GOMEMLIMIT=%d", limit), "SLUICE_MEMORY=16MiB", "SLUICE_LIMITS_IN_FLIGHT=1")
	if got := s.metric("go_gc_gomemlimit_bytes"); got != limit {
		t.Errorf("the collector has a limit of %.0f", got)
	}
	items := make([]string, 1000)
	for i := range items {
		items[i] = fmt.Sprintf(`{"path":"/","user":"user-%d"}`, i)
	}
	batch := `{"requests":[` + strings.Join(items, ",") + `]}`
	var answered, shed atomic.Int64
	var over atomic.Bool
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			for !over.Load() {
				answer, err := transport.RoundTrip(s.request("POST", "/v1/check", batch))
				if err != nil {
					t.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				switch {
				case err == nil && answer.StatusCode == http.StatusOK:
					answered.Add(1)
				case err == nil && answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") == "1":
					shed.Add(1)
				default:
					t.Errorf("%s %v %v", answer.Status, answer.Header, err)
				}
			}
		})
	}
	eventually(t, "some are answered, some are shed", func() bool { return answered.Load() > 1000 && shed.Load() > 20 })
	over.Store(true)
	work.Wait()
	if got := s.metric("sluice_shed_requests_total"); int64(got) != shed.Load() {
		t.Errorf("%.0f are counted, %d were shed", got, shed.Load())
	}
	if most := s.memory("VmHWM"); most > limit+32<<20 { // the program itself and stacks
		t.Errorf("it took up to %d MiB, with a GOMEMLIMIT of %d", most>>20, limit>>20)
	}
	if text := s.text("POST", "/v1/check", `{"path":"/","user":"ann"}`); !strings.Contains(text, `"allowed":true`) {
		t.Error(text)
	}
	if got := s.metric("sluice_requests_in_flight"); got != 0 {
		t.Errorf("%.0f places are still taken", got)
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
