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

// BenchmarkCellAllow is the hot path of a limiter without keys.
func BenchmarkCellAllow(b *testing.B) {
	c := memstore.NewCell(benchSpec(b, algo.Spec{Kind: algo.TokenBucket, Count: 1e6, Period: 1e6, Burst: 1e9}), clock.System())
	for b.Loop() {
		c.Allow()
	}
}
