package rule

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo/algotest"
)

// someText returns random text of up to n bytes, of which few are odd, so that what is
// odd stands at all places, and mostly alone.
func someText(random *rand.Rand, n int) string {
	const plain, odd = "aZz09-._~/", "%|;\\:[{}\"' \x00\x1f\x20\x7e\x7f\x80\xc3\xa9\xffA."
	text := make([]byte, random.IntN(n+1))
	for i := range text {
		text[i] = plain[random.IntN(len(plain))]
		if random.IntN(2*n) == 0 {
			text[i] = odd[random.IntN(len(odd))]
		}
	}
	return string(text)
}

// TestWords: what is found out in words of eight bytes is what a look at each byte
// finds out.
func TestWords(t *testing.T) {
	random := algotest.Rand(algotest.Seed(t, 0), 0)
	for range algotest.Rounds(20_000, 1_000_000) {
		s := someText(random, 40)
		if isPlain(s) && string(escapeEach(nil, s)) != s {
			t.Fatalf("%q is plain, and escaped as %q", s, escapeEach(nil, s))
		}
		if isCanonicalHost(s) && (strings.ToLower(s) != s || strings.Contains(s, ":") || strings.HasPrefix(s, "[") || strings.HasSuffix(s, ".")) {
			t.Fatalf("%q is a canonical host", s)
		}
		for _, fold := range []bool{false, true} {
			path := "/" + s
			ends, ok := scanPath(path, fold, nil)
			wantEnds, want := []int32(nil), true
			if s != "" {
				wantEnds, want = scanOddPath(path, fold, nil)
			}
			if ok != want || ok && !slices.Equal(ends, wantEnds) {
				t.Fatalf("%q, fold %v: %v %v, want %v %v", path, fold, ends, ok, wantEnds, want)
			}
		}
	}
}

// TestWordsOfEveryByte: each byte at each place is seen.
func TestWordsOfEveryByte(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for at := range n {
			for c := range 256 {
				text := []byte(strings.Repeat("a", n))
				text[at] = byte(c)
				s := string(text)
				plain := c >= ' ' && c < '|' && c != '%'
				if isPlain(s) != plain {
					t.Fatalf("%q: plain %v, want %v", s, isPlain(s), plain)
				}
				host := c < 0x80 && c != ':' && (c < 'A' || c > 'Z') && (c != '[' || at > 0) && (c != '.' || at < n-1)
				if isCanonicalHost(s) != host {
					t.Fatalf("%q: a canonical host %v, want %v", s, isCanonicalHost(s), host)
				}
				if n == 8 {
					want := uint64(0)
					if c == 'b' {
						want = 0x80 << (8 * at)
					}
					if got := equal(word(s), 'b'); got != want {
						t.Fatalf("%q: %x is marked, want %x", s, got, want)
					}
				}
			}
		}
	}
}

// TestTextTable: it finds what a map finds.
func TestTextTable(t *testing.T) {
	random := algotest.Rand(algotest.Seed(t, 0), 0)
	for range algotest.Rounds(30, 1000) {
		var table textTable
		want := map[string]int32{}
		for i := range int32(random.IntN(300)) {
			text := "x" + someText(random, 3+random.IntN(70))
			table.add(text, i+1)
			want[text] = i + 1
		}
		for text, number := range want {
			if got := table.find(text); got != number {
				t.Fatalf("%q: %d, want %d", text, got, number)
			}
		}
		for range 300 {
			text := someText(random, 20)
			if got := table.find(text); got != want[text] {
				t.Fatalf("%q: %d, want %d", text, got, want[text])
			}
		}
		if table.used != len(want) || 2*table.used > len(table.slots) {
			t.Fatalf("%d texts in %d places, want %d", table.used, len(table.slots), len(want))
		}
	}
}

// TestTextTableComparesLongTexts: equal digests are not taken for equal texts.
func TestTextTableComparesLongTexts(t *testing.T) {
	text := func(beginning, middle uint64) string {
		s := binary.LittleEndian.AppendUint64(nil, beginning)
		return string(binary.LittleEndian.AppendUint64(s, middle)) + "the end."
	}
	mixed := func(beginning uint64) uint64 { return multiply(beginning^hashSeed, spread) }
	a, b := text(1, 3), text(2, 3^mixed(1)^mixed(2))
	if digestOf(a) != digestOf(b) {
		t.Fatal("the digests differ: make other texts")
	}
	var table textTable
	table.add(a, 1)
	if table.find(a) != 1 || table.find(b) != 0 {
		t.Errorf("found %d and %d, want 1 and 0", table.find(a), table.find(b))
	}
	table.add(b, 2)
	if table.find(a) != 1 || table.find(b) != 2 {
		t.Errorf("found %d and %d, want 1 and 2", table.find(a), table.find(b))
	}
}

// TestAppendFour: IPv4 addresses look as they do everywhere.
func TestAppendFour(t *testing.T) {
	random := algotest.Rand(algotest.Seed(t, 0), 0)
	for i := range 1000 {
		ip := [4]byte{byte(i), byte(random.Uint32()), byte(random.IntN(12)), byte(random.IntN(120))}
		room := make([]byte, 3, 3+random.IntN(20))
		if got, want := string(appendFour(room, ip)[3:]), netip.AddrFrom4(ip).String(); got != want {
			t.Fatalf("%v: %q, want %q", ip, got, want)
		}
	}
}
