package memstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// fuzzLimits are limits of every algorithm; those of one shape differ in amount
// and unit.
var fuzzLimits = []algo.Spec{
	{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 20},
	{Kind: algo.TokenBucket, Count: 7, Period: 1e6, Burst: 30},
	{Kind: algo.TokenBucket, Count: 999_983, Period: 1e6, Burst: 100},
	{Kind: algo.LeakyBucket, Count: 10, Period: 1e6, Burst: 5},
	{Kind: algo.IntervalBucket, Count: 5, Period: 1e6, Burst: 12},
	{Kind: algo.WarmUp, Count: 10, Period: 1e6, Warm: 5e6, Cold: 3},
	{Kind: algo.FixedWindow, Count: 10, Period: 1e6},
	{Kind: algo.FixedWindow, Count: 10, Period: 1e6, FirstHit: true},
	{Kind: algo.SlidingWindow, Count: 10, Period: 1e6, Sub: 4},
	{Kind: algo.WeightedWindow, Count: 10, Period: 1e6},
	{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 10, Period: 1e6}, {Count: 25, Period: 5e6}}},
	{Kind: algo.Ban},
	{Kind: algo.Unlimited},
}

// script reads a sequence of operations from bytes.
type script struct {
	data []byte
	at   int64
	opts []*algo.Spec
}

func (s *script) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

// next returns the next operation.
func (s *script) next() (store.Op, []store.Check) {
	b := s.byte()
	s.at += int64(b>>3) * int64(b>>3) * 700 // the clock goes on
	op := store.Op(b & 7)
	if op > store.Cancel {
		op = store.Spend
	}
	var checks []store.Check
	for range 1 + s.byte()%3 {
		k, c := s.byte(), s.byte()
		checks = append(checks, store.Check{
			Key: string('a' + rune(k>>6)), Spec: s.opts[int(k&63)%len(s.opts)],
			Cost: int64(c & 15), MaxWait: int64(c>>6) * 150_000,
			ID: string('x' + rune(c>>4&1)), Hold: 1 + int64(c>>5&1)*2e6,
		})
	}
	return op, checks
}

// FuzzLikeTheModel plays a sequence of operations on the store and on the model:
// all answers are equal.
func FuzzLikeTheModel(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x05\x01\x02\x41\x33\x82\x12\x03\x01\x00\x07"))
	f.Add([]byte("\x09\x01\x02\x1f\x02\x11\x0a\x01\x02\x10\xf8\x00\x02\x01\x04\x00\x02\x00"))
	f.Add([]byte("\x08\x02\x0a\x07\x0a\x07\x0a\x03\x08\x00\x0a\x09\x0b\x00\x0a\x04\x0d\x00\x0a\x01"))
	var specs []*algo.Spec
	for _, p := range fuzzLimits {
		spec, err := algo.Compile(p)
		if err != nil {
			f.Fatal(err)
		}
		specs = append(specs, spec)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &script{data: data, at: 1_700_000_000_000_000, opts: specs}
		now := func() time.Time { return time.UnixMicro(s.at) }
		mem, model := memstore.New(memstore.WithClock(now)), algotest.NewModel(now)
		marks := map[string][2]algo.Mark{}
		for step := 0; len(s.data) > 0; step++ {
			op, got := s.next()
			want := append([]store.Check(nil), got...)
			for i, c := range got {
				if op == store.Cancel {
					m := marks[fmt.Sprint(c.Key, c.Spec.Shape())]
					got[i].Mark, want[i].Mark = m[0], m[1]
				}
			}
			errGot, errWant := mem.Take(context.Background(), op, got), model.Take(context.Background(), op, want)
			if errGot != nil || errWant != nil {
				t.Fatalf("step %d: %v, %v", step, errGot, errWant)
			}
			for i, c := range got {
				if a, b := seen(&got[i]), seen(&want[i]); a != b && op <= store.Commit {
					t.Fatalf("step %d, operation %d, check %d: got %s, want %s", step, op, i, a, b)
				}
				if op == store.Spend && c.Verdict.Allowed && c.Verdict.Wait > 0 {
					marks[fmt.Sprint(c.Key, c.Spec.Shape())] = [2]algo.Mark{c.Mark, want[i].Mark}
				}
			}
		}
	})
}

// seen is what a caller can see of an answer.
func seen(c *store.Check) string {
	v, p := c.Verdict, c.Spec
	return fmt.Sprint(v.Allowed, v.Never, v.Wait, p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v))
}
