package rule

import (
	"strings"
	"testing"
)

// TestAppendEscaped: however long a value is, wherever it has a byte that needs an escape,
// and however much room there is, it is what comes of a look at byte after byte.
func TestAppendEscaped(t *testing.T) {
	const before = "rule|"
	for length := range 40 {
		for odd := -1; odd < length; odd++ {
			for _, c := range []string{"|", "%", "\x00", "\x1f", "\x7f", "\xff", "{", "~", "z", " "} {
				value := strings.Repeat("a", length)
				if odd >= 0 {
					value = value[:odd] + c + value[odd+1:]
				}
				want := string(escapeEach([]byte(before), value))
				for _, room := range []int{0, 15, 16, 200} {
					to := append(make([]byte, 0, len(before)+room), before...)
					if got := string(appendEscaped(to, value)); got != want {
						t.Fatalf("%q with room for %d: %q, want %q", value, room, got, want)
					}
				}
			}
		}
	}
}

// TestAppendName: names of every length stand before the key, whole and with nothing
// after them.
func TestAppendName(t *testing.T) {
	const before = "{tag}"
	for length := range 70 {
		k := keyMaker{name: strings.Repeat("n", length)}
		copy(k.head[:], k.name)
		for _, room := range []int{0, 31, 32, 33, 200} {
			to := append(make([]byte, 0, len(before)+room), before...)
			if got, want := string(k.appendName(to)), before+k.name; got != want {
				t.Fatalf("with room for %d: %q, want %q", room, got, want)
			}
		}
	}
}
