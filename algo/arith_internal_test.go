package algo

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestMulDiv(t *testing.T) {
	edge := []int64{0, 1, 2, 3, 1 << 31, 1<<53 - 1, MaxCount, MaxSpan, maxInt64}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		edge = append(edge, r.Int64()>>r.IntN(63))
	}
	for _, a := range edge {
		for _, b := range edge {
			m := edge[r.IntN(len(edge))] | 1
			checkMulDiv(t, a, b, m)
		}
	}
}

func checkMulDiv(t *testing.T, a, b, m int64) {
	t.Helper()
	q, r := mulDiv(a, b, m)
	want, rest := new(big.Int).QuoRem(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(m), new(big.Int))
	if !want.IsInt64() {
		want, rest = big.NewInt(maxInt64), new(big.Int)
	}
	if q != want.Int64() || r != rest.Int64() {
		t.Errorf("mulDiv(%d, %d, %d) = %d, %d; want %v, %v", a, b, m, q, r, want, rest)
	}
	up := want.Int64()
	if rest.Sign() > 0 {
		up++
	}
	if got := mulDivCeil(a, b, m); got != up {
		t.Errorf("mulDivCeil(%d, %d, %d) = %d, want %d", a, b, m, got, up)
	}
}

func TestFloorTokens(t *testing.T) {
	for _, c := range [][5]int64{
		{0, 0, 1, 1, 0},
		{10, 2, 3, 4, 8},
		{MaxSpan, 0, 1000, 1, MaxSpan * 1000},
		{maxInt64, 0, maxInt64, 1, maxInt64},
	} {
		if got := floorTokens(c[0], c[1], c[2], c[3]); got != c[4] {
			t.Errorf("floorTokens(%v) = %d", c, got)
		}
	}
}

// TestBucketRemainingWithACarry: Y may hold more than one microsecond.
func TestBucketRemainingWithACarry(t *testing.T) {
	p, err := Compile(Spec{Kind: TokenBucket, Count: 3, Period: 10, Burst: 6}) // full in 20 µs
	if err != nil {
		t.Fatal(err)
	}
	for y, want := range map[int64]int64{0: 3, 1: 2, 10: 2, 11: 1, 30: 0, 31: 0} {
		if got := p.Remaining(Verdict{X: 10, Y: y}); got != want {
			t.Errorf("10 µs and %d/3: remaining %d, want %d", y, got, want)
		}
	}
}
