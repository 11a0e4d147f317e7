package sqllimit

import (
	"fmt"
	"testing"
)

// TestMemoKeepsUp: after any number of texts that never come again, those that come
// often are remembered, and get the weight that they have.
func TestMemoKeepsUp(t *testing.T) {
	var m memo
	for i := range 10_000 {
		m.weigh(fmt.Sprintf("SELECT %d", i))
	}
	for _, often := range []string{"INSERT a; INSERT b", "SELECT 1 -- often", "COMMIT"} {
		want := weigh(often)
		if m.weigh(often) != want {
			t.Errorf("%q: wrong at first", often)
		}
		known := 0
		for i := range memoPlaces {
			if r := m.newer[i].Load(); r != nil && r.query == often && r.weight == want {
				known++
			}
		}
		if m.weigh(often) != want || known != 1 {
			t.Errorf("%q: not remembered", often)
		}
	}
}
