package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// Every store tells its own figures, and its cap.
func TestMemory(t *testing.T) {
	m := metrics.New(metrics.Build{})
	stats := func(n int64) func() memstore.Stats {
		return func() memstore.Stats {
			return memstore.Stats{Keys: n, Bytes: n + 1, Evicted: n + 2, Forgotten: n + 3, Reservations: n + 4}
		}
	}
	m.Memory(metrics.StoreCluster, 1000, stats(10))
	m.Memory(metrics.StoreInstance, 2000, stats(20))
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for name, want := range map[string][2]string{
		"sluice_memory_keys": {"10", "20"}, "sluice_memory_bytes": {"11", "21"}, "sluice_memory_limit_bytes": {"1000", "2000"},
		"sluice_memory_evicted_keys_total": {"12", "22"}, "sluice_memory_forgotten_keys_total": {"13", "23"}, "sluice_memory_reservations": {"14", "24"},
	} {
		for i, store := range []string{"cluster", "instance"} {
			if line := name + `{store="` + store + `"} ` + want[i]; !strings.Contains(answer.Body.String(), line+"\n") {
				t.Errorf("%s is missing", line)
			}
		}
	}
}
