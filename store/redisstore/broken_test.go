package redisstore_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestBrokenValue: a value that is broken, foreign or of a newer version is an
// error; it is left as it is, and the other decisions of the call are made.
func TestBrokenValue(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	good := everyKind(t)[0]
	for _, p := range everyKind(t) {
		check := store.Check{Key: "broken", Spec: p, Cost: 1, ID: "id", Hold: 1e6}
		key := redisstore.StateKey(s, &check)
		take(t, s, store.Spend, check)
		value := do(t, c, "GET", key).(string)
		for name, bad := range map[string]string{
			"newer":     "\x03" + value[1:],
			"older":     "\x00" + value[1:],
			"empty":     "",
			"truncated": value[:len(value)-1],
			"longer":    value + "x",
			"not ours":  "12",
			"nan":       value[:len(value)-8] + "\xff\xff\xff\xff\xff\xff\xff\xff",
		} {
			if p.Kind == algo.SlidingLog && (name == "longer" || name == "empty" || name == "nan") {
				continue // there is room behind a log; empty is as good as none; entries are not looked at one by one
			}
			do(t, c, "SET", key, bad, "PX", "100000")
			for _, op := range []store.Op{store.Spend, store.Lease, store.Refund, store.Reserve, store.Return, store.Reset} {
				bad := check
				bad.Want = 5
				err := s.Take(context.Background(), op, []store.Check{bad})
				want := redisstore.ErrState
				if name == "newer" {
					want = redisstore.ErrVersion
				}
				if !errors.Is(err, want) {
					t.Errorf("%s, %s, operation %d: error %v, want %v", algotest.KindName(p.Kind), name, op, err, want)
				}
			}
			if got := do(t, c, "GET", key); got != bad {
				t.Errorf("%s, %s: the value was changed", algotest.KindName(p.Kind), name)
			}
			wantOthersDecided(t, s, check, good)
		}
		do(t, c, "DEL", key)
	}
}

// wantOthersDecided sends a broken decision between two good ones.
func wantOthersDecided(t *testing.T, s *redisstore.Store, broken store.Check, good *algo.Spec) {
	t.Helper()
	take(t, s, store.Reset, store.Check{Key: "good", Spec: good})
	spend := func() []store.Check { return []store.Check{{Key: "good", Spec: good, Cost: 1}} }
	both := []store.Check{{Key: "good", Spec: good, Cost: 50}, broken}
	call := []redisstore.Decision{{Checks: spend()}, {Checks: both}, {Checks: []store.Check{broken}}, {Checks: spend()}}
	if err := s.TakeMany(context.Background(), call); err != nil {
		t.Fatal(err)
	}
	if call[0].Err != nil || call[1].Err == nil || call[2].Err == nil || call[3].Err != nil {
		t.Errorf("errors %v, %v, %v, %v: want those of the broken ones", call[0].Err, call[1].Err, call[2].Err, call[3].Err)
	}
	if left := good.Remaining(call[3].Checks[0].Verdict); left != 98 {
		t.Errorf("%d remain to the good key, want 98", left)
	}
}

// TestForeignKey: a key of another type is not ours to touch.
func TestForeignKey(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	permits := mustCompile(t, algo.Spec{Kind: algo.Concurrency, Count: 5})
	for _, p := range everyKind(t) {
		check := store.Check{Key: "list", Spec: p, Cost: 1}
		key := redisstore.StateKey(s, &check)
		do(t, c, "DEL", key)
		do(t, c, "RPUSH", key, "a")
		err := s.Take(context.Background(), store.Spend, []store.Check{check})
		if !errors.Is(err, redisstore.ErrState) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v, want one that names the key", algotest.KindName(p.Kind), err)
		}
		wantOthersDecided(t, s, check, everyKind(t)[0])
	}
	check := store.Check{Key: "k", Spec: permits, Cost: 1, ID: "me", Hold: 1e6}
	do(t, c, "SET", redisstore.StateKey(s, &check), "x")
	if err := s.Take(context.Background(), store.Acquire, []store.Check{check}); !errors.Is(err, redisstore.ErrState) {
		t.Errorf("permits: error %v", err)
	}
	book := store.Check{Key: "k", Spec: everyKind(t)[0], Cost: 1, ID: "me", Hold: 1e6}
	do(t, c, "SET", redisstore.BookKey(s, &book), "x")
	for _, op := range []store.Op{store.Reserve, store.Commit, store.Refund, store.Return} {
		if err := s.Take(context.Background(), op, []store.Check{book}); !errors.Is(err, redisstore.ErrState) {
			t.Errorf("reservations: error %v", err)
		}
	}
	do(t, c, "DEL", redisstore.BookKey(s, &book))
	do(t, c, "HSET", redisstore.BookKey(s, &book), "", "no count of 8 bytes")
	for _, op := range []store.Op{store.Reserve, store.Refund} {
		if err := s.Take(context.Background(), op, []store.Check{book}); !errors.Is(err, redisstore.ErrState) {
			t.Errorf("what was given back: error %v", err)
		}
	}
}

// TestRandomBytes: whatever lies under our names, the answer is an error or a
// decision, never a failure of the script.
func TestRandomBytes(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	seed := algotest.Seed(t, 0)
	specs := everyKind(t)
	for n := range uint64(algotest.Rounds(3000, 300_000)) {
		r := algotest.Rand(seed, n)
		p := algotest.Pick(r, specs)
		check := store.Check{Key: "k", Spec: p, Cost: 1, Want: 3}
		key := redisstore.StateKey(s, &check)
		do(t, c, "DEL", key)
		take(t, s, store.Spend, check)
		value := []byte(do(t, c, "GET", key).(string))
		for range 1 + r.IntN(3) {
			value[r.IntN(len(value))] = byte(r.IntN(256))
		}
		do(t, c, "SET", key, string(value[:r.IntN(len(value)+1)]), "PX", "100000")
		for _, op := range []store.Op{store.Spend, store.Lease, store.Refund} {
			err := s.Take(context.Background(), op, []store.Check{check})
			if err != nil && !errors.Is(err, redisstore.ErrState) && !errors.Is(err, redisstore.ErrVersion) {
				t.Fatalf("seed %d, round %d, %s: %v", seed, n, algotest.KindName(p.Kind), err)
			}
		}
	}
}

// take makes a call that must not fail.
func take(t testing.TB, s store.Store, op store.Op, checks ...store.Check) []store.Check {
	t.Helper()
	if err := s.Take(context.Background(), op, checks); err != nil {
		t.Fatalf("operation %d: %v", op, err)
	}
	return checks
}

// FuzzDecode: no reply makes the decoder fail.
func FuzzDecode(f *testing.F) {
	p, err := algo.Compile(algo.Spec{Kind: algo.WeightedWindow, Count: 5, Period: 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(0), []byte{1, 9, 1, 2, 3})
	f.Add(uint8(6), []byte{1, 16, 1, 2, 3, 255})
	f.Add(uint8(0), []byte{254, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, op uint8, reply []byte) {
		s := open(t, fake(func() ([]int64, error) {
			var numbers []int64
			for i, b := range reply {
				numbers = append(numbers, int64(int8(b))<<(i%57))
			}
			return append(numbers, math.MaxInt64)[:len(numbers)], nil
		}))
		checks := []store.Check{{Key: "a", Spec: p, Cost: 1, Want: 2, ID: "i", Hold: 1}, {Key: "b", Spec: p, Cost: 1, Want: 2, ID: "i", Hold: 1}}
		_ = s.Take(context.Background(), store.Op(op%8), checks)
	})
}
