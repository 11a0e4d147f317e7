package app_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/config"
)

// number returns the value of a metric.
func (r *running) number(series string) float64 {
	r.t.Helper()
	_, text := r.do("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return n
		}
	}
	r.t.Fatalf("there is no %s", series)
	return 0
}

// What leases and remembered denials save is counted.
func TestSavedCallsAreCounted(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"', lease: {age: 10s}}\nrules: [{name: all, limits: [fixed_window 1000/h]}, {name: few, match: {paths: [/few]}, limits: [1/h]}]\n")
	r := start(t, config.Sources{Path: f.path})
	for range 300 {
		r.check()
	}
	eventually(t, "a lease is taken", func() bool {
		r.check()
		return r.number("sluice_lease_batches_total") > 0 && r.number("sluice_lease_taken_tokens_total") > 1
	})
	if saved := r.number(`sluice_store_takes_total{layer="lease"}`) - r.number(`sluice_store_takes_total{layer="redis"}`); saved <= 0 {
		t.Errorf("leases saved %v calls", saved)
	}
	eventually(t, "a denial is remembered", func() bool {
		_, _ = r.Engine().Check(t.Context(), engine.Request{Path: "/few"})
		return r.number("sluice_denial_cache_hits_total") > 0
	})
}

// The memory of scopes instance and split has a cap of its own, and tells of itself.
func TestMemoryOfInstance(t *testing.T) {
	f := newFile(t, "rules: [{name: own, key: [user], scope: instance, limits: [9/h]}, {name: part, key: [user], scope: split, limits: [9/h]}]\n")
	r := start(t, config.Sources{Path: f.path, Flags: map[string]string{"instance_memory": "1MiB"}})
	for i := range 3 {
		if _, err := r.Engine().Check(t.Context(), engine.Request{User: fmt.Sprint("user", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for series, want := range map[string]float64{
		`sluice_memory_keys{store="instance"}`: 6, `sluice_memory_keys{store="cluster"}`: 0,
		`sluice_memory_limit_bytes{store="instance"}`: 2 << 20, `sluice_memory_limit_bytes{store="cluster"}`: 256 << 20,
	} {
		if got := r.number(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	for i := range 60_000 {
		if _, err := r.Engine().Check(t.Context(), engine.Request{User: fmt.Sprint("user", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if bytes := r.number(`sluice_memory_bytes{store="instance"}`); bytes > 2<<20 || r.number(`sluice_memory_evicted_keys_total{store="instance"}`) == 0 {
		t.Errorf("%v bytes: the cap does not hold", bytes)
	}
}
