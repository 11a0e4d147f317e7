package memstore_test

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func benchSpec(b *testing.B, p algo.Spec) *algo.Spec {
	spec, err := algo.Compile(p)
	if err != nil {
		b.Fatal(err)
	}
	return spec
}

// BenchmarkTakeOne is the hot path: one check of a key that is there.
func BenchmarkTakeOne(b *testing.B) {
	const keys = 1 << 16
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprint("client-", i)
	}
	for name, p := range map[string]algo.Spec{
		"allowed": {Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e9},
		"denied":  {Kind: algo.TokenBucket, Count: 1, Period: 1e12, Burst: 1},
		"window":  {Kind: algo.FixedWindow, Count: 1e9, Period: 1e6},
	} {
		b.Run(name, func(b *testing.B) {
			s, spec := memstore.New(), benchSpec(b, p)
			for _, n := range names {
				s.TakeOne(n, spec, 1, new(algo.Verdict))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				s.TakeOne(names[i&(keys-1)], spec, 1, new(algo.Verdict))
				i++
			}
		})
	}
}

// BenchmarkTakeNew adds a key each time, into a store at its cap.
func BenchmarkTakeNew(b *testing.B) {
	s := memstore.New(memstore.MaxBytes(16 << 20))
	spec := benchSpec(b, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 1})
	key, n := make([]byte, 8), uint64(0)
	for b.Loop() {
		n++
		for i := range key {
			key[i] = byte(n >> (8 * i))
		}
		s.TakeOne(string(key), spec, 1, new(algo.Verdict))
	}
}

// BenchmarkTakeTwo decides two checks as one.
func BenchmarkTakeTwo(b *testing.B) {
	s := memstore.New()
	spec := benchSpec(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e9})
	checks := []store.Check{{Key: "a", Spec: spec, Cost: 1}, {Key: "b", Spec: spec, Cost: 1}}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Take(b.Context(), store.Spend, checks); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTakeThree decides three checks as one: the everyday call of rules. The
// last denies in "denied", and in "shadow", where it is a shadow; it is no token
// bucket in "mixed". "hot" has so few keys that all of them are in the cache.
func BenchmarkTakeThree(b *testing.B) {
	bucket := algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e9}
	drained := algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e12, Burst: 1}
	for _, c := range []struct {
		name   string
		last   algo.Spec
		shadow bool
		keys   int
	}{
		{"allowed", bucket, false, 1 << 16},
		{"hot", bucket, false, 1 << 6},
		{"denied", drained, false, 1 << 16},
		{"shadow", drained, true, 1 << 16},
		{"mixed", algo.Spec{Kind: algo.FixedWindow, Count: 1e9, Period: 1e6}, false, 1 << 16},
	} {
		b.Run(c.name, func(b *testing.B) {
			names := make([]string, c.keys)
			s, spec, last := memstore.New(), benchSpec(b, bucket), benchSpec(b, c.last)
			for i := range names {
				names[i] = fmt.Sprint("client-", i)
				s.TakeOne(names[i], spec, 1, new(algo.Verdict))
				s.TakeOne(names[i], last, 1, new(algo.Verdict))
			}
			checks := []store.Check{{Spec: spec, Cost: 1}, {Spec: spec, Cost: 1}, {Spec: last, Cost: 1, Shadow: c.shadow}}
			ctx := b.Context()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				for j := range checks {
					checks[j].Key = names[(i+j)&(c.keys-1)]
				}
				i += 3
				if err := s.Take(ctx, store.Spend, checks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCellAllow is the hot path of a limiter without keys.
func BenchmarkCellAllow(b *testing.B) {
	c := memstore.NewCell(benchSpec(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e9}), clock.System())
	for b.Loop() {
		c.Allow()
	}
}
