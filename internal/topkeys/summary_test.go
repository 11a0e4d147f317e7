package topkeys

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

const minute = int64(60e6) // in µs

// TestBound: count − error ≤ true ≤ count holds for every key that is returned, over
// several stripes, windows and very different traffic, and no key that is missing was
// seen more often than the bound says.
func TestBound(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) int{
		"few":     func(r *rand.Rand) int { return r.IntN(20) },
		"even":    func(r *rand.Rand) int { return r.IntN(5000) },
		"squares": func(r *rand.Rand) int { x := r.Float64(); return int(x * x * x * x * 20_000) },
		"scan":    func(r *rand.Rand) int { return r.IntN(1 << 30) },
	} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano())
			t.Log("seed", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			table := New(4, time.Minute)
			truth := map[string]uint64{}
			for i := range 60_000 {
				now := 10*minute + int64(i)*minute*2/60_000 // over two windows
				key := strconv.Itoa(draw(r))
				truth[key]++
				table.Add(r.Uint32(), now, "rule", key, 1)
			}
			items := table.Top(12*minute-1, 1<<20)
			for i, item := range items {
				if n := truth[item.Key]; n > item.Count || n < item.Count-item.Error {
					t.Fatalf("key %q: true count %d is not in [%d − %d, %d]", item.Key, n, item.Count, item.Error, item.Count)
				}
				if i > 0 && item.Count > items[i-1].Count {
					t.Fatalf("item %d has more than the one before", i)
				}
			}
			if len(items) < min(len(truth), Counters) {
				t.Fatalf("%d items of %d keys", len(items), len(truth))
			}
		})
	}
}

// TestExactWhileItFits: with fewer keys than counters of a bucket nothing is guessed.
func TestExactWhileItFits(t *testing.T) {
	table := New(8, time.Minute)
	for i := range 8 {
		for range i + 1 {
			table.Add(uint32(i), 0, "rule", strconv.Itoa(i), 1)
		}
	}
	for i, item := range table.Top(0, 8) {
		want := Item{Label: "rule", Key: strconv.Itoa(7 - i), Count: uint64(8 - i)}
		if item != want {
			t.Errorf("item %d is %+v, want %+v", i, item, want)
		}
	}
}

// TestHeavyStays: a key that is always there is not washed out by any number of keys
// that come once, nor do those get into the top.
func TestHeavyStays(t *testing.T) {
	table := New(1, time.Minute)
	for i := range 200_000 {
		if i%200 == 0 {
			table.Add(0, 0, "rule", "heavy", 1)
		}
		table.Add(0, 0, "rule", "once-"+strconv.Itoa(i), 1)
	}
	top := table.Top(0, 1)
	if top[0].Key != "heavy" || top[0].Count < 1000 || top[0].Count-top[0].Error > 1000 {
		t.Errorf("top is %+v, want heavy 1000", top[0])
	}
}

func TestKeyTexts(t *testing.T) {
	long := string(make([]byte, KeyBytes)) + "tail"
	table := New(1, time.Minute)
	table.Add(0, 0, "a", "x", 1)
	table.Add(0, 0, "b", "x", 1)
	table.Add(0, 0, "b", "", 1)
	for range 2 {
		table.Add(0, 0, "b", long+"1", 1)
		table.Add(0, 0, "b", long+"2", 1)
	}
	got := table.Top(0, 10)
	want := []Item{
		{"b", long[:KeyBytes], true, 2, 0, false},
		{"b", long[:KeyBytes], true, 2, 0, false},
		{"a", "x", false, 1, 0, false},
		{"b", "", false, 1, 0, false},
		{"b", "x", false, 1, 0, false},
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
	if table.Top(0, 0) != nil || table.Top(0, -1) != nil {
		t.Error("a top of none is not empty")
	}
}
