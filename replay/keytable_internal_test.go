package replay

import (
	"strconv"
	"testing"
)

// TestKeyTable: so many keys that some have equal hashes keep their records apart.
func TestKeyTable(t *testing.T) {
	const keys = 300_000
	table := newKeyTable()
	for round := range uint32(2) {
		for i := range keys {
			r := table.find("key-" + strconv.Itoa(i))
			if r.requests != round {
				t.Fatalf("key %d was seen %d times, want %d", i, r.requests, round)
			}
			r.requests++
		}
	}
	if table.size != keys || table.text(table.at(keys-1)) != "key-"+strconv.Itoa(keys-1) {
		t.Errorf("%d keys, the last %q", table.size, table.text(table.at(keys-1)))
	}
}

// TestTimeline: nothing is lost when steps become wider, also over years.
func TestTimeline(t *testing.T) {
	var line timeline
	requests, denied := int64(0), int64(0)
	for _, now := range []uint32{0, 1, 239, 240, 241, 5000, 86_400, 40 * 86_400, 400 * 86_400, 20_000 * 86_400} {
		line.touch(now, now%2 == 1)
		requests++
		denied += int64(now % 2)
		var sum step
		for _, s := range line.steps {
			sum.requests += s.requests
			sum.denied += s.denied
		}
		if sum.requests != requests || sum.denied != denied || len(line.steps) > maxSteps {
			t.Errorf("after %d s: %+v in %d steps of %d s, want %d and %d", now, sum, len(line.steps), line.width(), requests, denied)
		}
	}
	for i := 1; i < len(widths); i++ {
		if widths[i]%widths[i-1] != 0 {
			t.Errorf("%d is no multiple of %d", widths[i], widths[i-1])
		}
	}
}
