//go:build !race

package replay_test

import (
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
)

// TestRunAllocatesPerKey: deciding costs allocations for new keys, not for every
// request.
func TestRunAllocatesPerKey(t *testing.T) {
	var entries []*accesslog.Entry
	for i := range 20_000 {
		entries = append(entries, entry(i*10, byte(i), "Mozilla"))
	}
	set := oneRule(t, "sliding_log 10/m", "ip")
	n := testing.AllocsPerRun(3, func() {
		if _, err := replay.Run(set, slices.Values(entries), replay.Options{Sample: -1}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 5000 {
		t.Errorf("%.0f allocations for %d requests of 256 keys", n, len(entries))
	}
}
