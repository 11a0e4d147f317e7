//go:build !race

package cli_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/replay"
)

// TestReplayGolden: the figures of two real logs, from the command line, to the request.
func TestReplayGolden(t *testing.T) {
	for _, c := range []struct {
		log                                string
		perMinute                          int
		requests, keys, denied, keysDenied int64
	}{
		{"wordpress-2016", 10, 206_860, 8799, 35_410, 1402},
		{"wordpress-2016", 30, 206_860, 8799, 7764, 293},
		{"wordpress-2016", 60, 206_860, 8799, 1758, 35},
		{"wordpress-2016", 120, 206_860, 8799, 381, 8},
		{"semicomplete-2015", 10, 10_000, 1753, 1729, 79},
		{"semicomplete-2015", 30, 10_000, 1753, 456, 31},
		{"semicomplete-2015", 60, 10_000, 1753, 87, 2},
		{"semicomplete-2015", 120, 10_000, 1753, 0, 0},
	} {
		out, complaint, code := command(t.Context(), nil, "replay", "--key", "ip", "--limit", fmt.Sprintf("%d/m", c.perMinute), "--algorithm", "sliding_log", "--sample", "0", "--json", testLogs+c.log+".log.gz")
		var r replay.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || complaint != "" {
			t.Fatal(err, code, complaint)
		}
		got := r.Rules[0]
		if l := r.Lines; l.Total != c.requests || l.Parsed != c.requests || l.Rejected != 0 || l.Late != 0 {
			t.Errorf("%s: %+v", c.log, l)
		}
		if got.Requests != c.requests || got.Keys != c.keys || got.Denied != c.denied || got.KeysDenied != c.keysDenied {
			t.Errorf("%s at %d/m: %d requests of %d keys, %d denied of %d keys, want %+v", c.log, c.perMinute, got.Requests, got.Keys, got.Denied, got.KeysDenied, c)
		}
		if c.keysDenied == 35 && (got.Suspects.Keys != 15 || got.Suspects.Requests != 580) {
			t.Errorf("candidates for false kills: %+v", got.Suspects)
		}
	}
}
