package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// denialHot returns a cache that denies a hot key for longer than any test takes.
func denialHot(t testing.TB, now int64) (*redisstore.Denials, *algo.Spec) {
	spec := denialSpec(t, algo.Spec{Kind: algo.TokenBucket, Count: 100, Period: 3600_000_000 * 100, Burst: 5})
	d := redisstore.NewDenials(redisstore.DenialEntries, time.Hour)
	redisstore.DenialLearn(d, now, []store.Check{denialFor(spec, "user:0123456789", 1, 0)})
	return d, spec
}

func TestDenialAllocs(t *testing.T) {
	now := clock.System()
	d, spec := denialHot(t, now.Now())
	c := []store.Check{{Key: "user:0123456789", Spec: spec, Cost: 1}, {Key: "user:0123456789", Spec: spec, Cost: 2}}
	if n := testing.AllocsPerRun(100, func() {
		for n := 1; n <= 2; n++ {
			known, err := redisstore.DenialTake(d, now.Now, store.Spend, c[:n], func() error { return errDenialSent })
			if !known || err != nil {
				t.Error("not answered")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var errDenialSent = errors.New("sent to the server")

// BenchmarkDenial: 128 callers of one denied key, with the one look at the clock.
func BenchmarkDenial(b *testing.B) {
	now := clock.System()
	d, spec := denialHot(b, now.Now())
	b.SetParallelism(64)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c := []store.Check{{Key: "user:0123456789", Spec: spec, Cost: 1}}
		for pb.Next() {
			known, err := redisstore.DenialTake(d, now.Now, store.Spend, c, func() error { return errDenialSent })
			if !known || err != nil {
				b.Error("not answered")
			}
		}
	})
}
