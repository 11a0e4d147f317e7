package replay_test

import (
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
)

// BenchmarkRun decides a log that was read before.
func BenchmarkRun(b *testing.B) {
	entries := entriesOf(b, "wordpress-2016")
	set := byIP(b, sluice.PerMinute(60).With(sluice.SlidingLog))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := replay.Run(set, slices.Values(entries), replay.Options{Sample: -1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/line")
}
