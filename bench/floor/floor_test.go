package floor

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// TestTakeAdmitsWhatArithmeticSays compares the word with a bucket of
// rationals that is filled and emptied step by step.
func TestTakeAdmitsWhatArithmeticSays(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	for range 200 {
		count, burst := 1+r.Int64N(20_000), 1+r.Int64N(50)
		period := time.Duration(1+r.Int64N(5_000_000)) * time.Microsecond
		checkAgainstRationals(t, r, count, period, burst)
	}
}

func checkAgainstRationals(t *testing.T, r *rand.Rand, count int64, period time.Duration, burst int64) {
	t.Helper()
	limit := NewLimit(count, period, burst)
	rate := big.NewRat(count, period.Microseconds())
	room, one := big.NewRat(burst, 1), big.NewRat(1, 1)
	tokens := new(big.Rat).Set(room)
	var state atomic.Int64
	now := int64(1_000_000)
	for range 300 {
		step := r.Int64N(1 + 2*period.Microseconds()/count)
		now += step
		tokens.Add(tokens, new(big.Rat).Mul(rate, big.NewRat(step, 1)))
		if tokens.Cmp(room) > 0 {
			tokens.Set(room)
		}
		want := tokens.Cmp(one) >= 0
		if want {
			tokens.Sub(tokens, one)
		}
		if got := limit.Take(&state, now); got != want {
			t.Fatalf("%d per %v, burst %d, at %d µs: got %v, want %v", count, period, burst, now, got, want)
		}
	}
}

func TestDeniedWritesNothing(t *testing.T) {
	limit := NewLimit(1, time.Hour, 1)
	var state atomic.Int64
	if !limit.Take(&state, 1) {
		t.Fatal("the first token was denied")
	}
	before := state.Load()
	if limit.Take(&state, 2) || state.Load() != before {
		t.Fatal("a denied call changed the state")
	}
}

func TestBucketsAdmitTheirBurst(t *testing.T) {
	limit := NewLimit(1, 24*time.Hour, 5)
	clock := NewCoarseClock(time.Millisecond)
	defer clock.Stop()
	b, c := NewBucket(limit), NewCoarseBucket(limit, clock)
	for i := range 10 {
		if got, want := b.Allow(), i < 5; got != want {
			t.Errorf("bucket, call %d: %v", i, got)
		}
		if got, want := c.Allow(), i < 5; got != want {
			t.Errorf("coarse bucket, call %d: %v", i, got)
		}
	}
}

func TestWordCounts(t *testing.T) {
	var w Word
	for range 3 {
		if !w.Allow() {
			t.Error("not swapped, though nobody else did")
		}
	}
	if got := w.state.Load(); got != 3 {
		t.Errorf("counted %d of 3", got)
	}
}

func TestTableSize(t *testing.T) {
	if size := unsafe.Sizeof(slot[atomic.Int64]{}); size != 24 {
		t.Errorf("a slot has %d bytes, want 24", size)
	}
	if n := len(NewTable(NewLimit(1, time.Second, 1), 1_000_000).slots); n != 1<<21 {
		t.Errorf("one million keys have %d slots, want 2^21", n)
	}
}

// TestTableLosesNoSpend asks for the same few keys from many goroutines while
// their slots are being claimed: every key admits exactly its burst.
func TestTableLosesNoSpend(t *testing.T) {
	const goroutines, keys, burst = 16, 300, 20
	table := NewTable(NewLimit(1, 24*time.Hour, burst), keys)
	var admitted [keys]atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range keys * 4 {
				k := (i*7 + g*13) % keys
				if table.allowAt(strconv.Itoa(k), 1) {
					admitted[k].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for k := range admitted {
		if n := admitted[k].Load(); n != burst {
			t.Errorf("key %d admitted %d, want %d", k, n, burst)
		}
	}
}
