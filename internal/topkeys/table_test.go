package topkeys

import (
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// TestWindows: what is older than the window before this one does not count.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		name string
		now  int64
		want string
	}{
		{"same window", 100*minute + 1, "2 old"},
		{"next window", 101 * minute, "2 old"},
		{"end of the next", 102*minute - 1, "2 old"},
		{"after that", 102 * minute, ""},
		{"much later", 1000 * minute, ""},
		{"a reader who is late", 100*minute - 1, "2 old"},
		{"the clock was set back", 50 * minute, ""},
	} {
		table := New(4, time.Minute)
		table.Add(0, 100*minute, "rule", "old", 1)
		table.Add(1, 100*minute, "rule", "old", 1)
		got := ""
		for _, item := range table.Top(c.now, 5) {
			got += strconv.FormatUint(item.Count, 10) + " " + item.Key
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJump: if the clock jumps, neither window is left.
func TestJump(t *testing.T) {
	for _, jump := range []int64{5, -5} {
		table := New(1, time.Minute)
		table.Add(0, 100*minute, "rule", "old", 1)
		table.Add(0, 101*minute, "rule", "old", 1)
		if got := table.Top((101+jump)*minute, 5); len(got) != 0 {
			t.Errorf("%d windows later there is %v", jump, got)
		}
	}
}

// TestTurn: a key of both windows is one item, and the older half goes first.
func TestTurn(t *testing.T) {
	table := New(1, time.Minute)
	for now := range 5 * int64(10) { // ten per window
		table.Add(0, now*minute/10, "rule", "key", 1)
		got := table.Top(now*minute/10, 1)[0]
		want := uint64(now + 1)
		if now >= 10 {
			want = uint64(now%10 + 11)
		}
		if got.Count != want || got.Error != 0 {
			t.Fatalf("after %d tenths: %+v, want %d", now, got, want)
		}
	}
}

// TestConcurrentSafe: nothing is lost however many add and look at the same time.
func TestConcurrentSafe(t *testing.T) {
	const adders, each = 16, 2000
	table := New(4, time.Minute)
	var wg sync.WaitGroup
	for a := range adders {
		wg.Go(func() {
			for i := range each {
				table.Add(uint32(a), 0, "rule", strconv.Itoa(i%4), 1)
				if i%500 == 0 {
					table.Top(0, 3)
				}
			}
		})
	}
	wg.Wait()
	for _, item := range table.Top(0, 4) {
		if item.Count != adders*each/4 || item.Error != 0 {
			t.Errorf("%+v, want %d", item, adders*each/4)
		}
	}
}

// TestMemory: the bound that New states.
func TestMemory(t *testing.T) {
	table := New(1000, time.Minute)
	if size := len(table.stripes) * 2 * int(unsafe.Sizeof(summary{})); size > 1<<20 {
		t.Errorf("a table can take %d bytes", size)
	}
	if size := unsafe.Sizeof(stripe{}); size%64 != 0 {
		t.Errorf("a stripe of %d bytes shares a cache line with the next", size)
	}
}

func TestNoAllocations(t *testing.T) {
	table := New(1, time.Minute)
	keys := make([]string, 2000)
	for i := range keys {
		keys[i] = "user-" + strconv.Itoa(i)
	}
	table.Add(0, 0, "rule", "first", 1)
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		table.Add(0, int64(i)*minute/100, "rule", keys[i%len(keys)], 1)
		i++
	}); n != 0 {
		t.Errorf("an Add allocates %v times", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = "user-" + strconv.Itoa(i)
	}
	for _, c := range []struct {
		name string
		keys int
	}{{"hot", 8}, {"new", len(keys)}} {
		b.Run(c.name, func(b *testing.B) {
			table := New(1, time.Minute)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				table.Add(0, 0, "rule", keys[i&(c.keys-1)], 1)
				i++
			}
		})
	}
}
