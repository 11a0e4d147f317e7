package rule

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestKeyTableAgainstReference: the table finds the first entry that trying all of
// them one by one finds.
func TestKeyTableAgainstReference(t *testing.T) {
	random := algotest.Rand(algotest.Seed(t, 0), 0)
	value := func() string { return string("ab*"[random.IntN(3)]) }
	for range algotest.Rounds(2000, 200_000) {
		var table keyTable
		var all []wildKey
		for entry := range random.IntN(8) {
			for range 1 + random.IntN(2) {
				key := wildKey{entry, []string{value(), value(), value()}}
				all = append(all, key)
				table.add(key.entry, key.parts)
			}
		}
		key := []byte(joinKey([]string{value(), "b", value()}))
		want := -1
		for _, w := range all {
			if w.fits(key) {
				want = w.entry
				break
			}
		}
		if got := table.find(key); got != want {
			t.Fatalf("%s in %v: got %d, want %d", key, all, got, want)
		}
	}
}

// TestManyWildKeys: ten thousand entries with a * are as many steps as there are ways
// to put it.
func TestManyWildKeys(t *testing.T) {
	var table keyTable
	for i := range 10_000 {
		table.add(2*i, []string{fmt.Sprint("tenant", i), "*"})
		table.add(2*i+1, []string{"*", fmt.Sprint("user", i)})
	}
	if len(table.wild) != 2 {
		t.Errorf("%d tables, want 2", len(table.wild))
	}
	for key, want := range map[string]int{"|tenant7|user9": 14, "|tenant9|user7": 15, "|x|user9999": 19_999, "|x|y": -1} {
		if got := table.find([]byte(key)); got != want {
			t.Errorf("%s: got %d, want %d", key, got, want)
		}
	}
	if table.all() != -1 {
		t.Error("not every key is in it")
	}
	table.add(20_000, []string{"*", "*"})
	if table.all() != 20_000 || table.find([]byte("|x|y")) != 20_000 {
		t.Error("every key is in it")
	}
}

func BenchmarkWildKeys10000(b *testing.B) {
	var table keyTable
	for i := range 10_000 {
		table.add(i, []string{fmt.Sprint("tenant", i), "*"})
	}
	key := []byte("|tenant9999|ann")
	b.ReportAllocs()
	for b.Loop() {
		if table.find(key) != 9999 {
			b.Fatal("not found")
		}
	}
}
