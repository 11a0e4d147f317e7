package cli

import (
	"strings"
	"testing"
)

// A view fits the screen, so that its head stays in sight: no line takes two.
func TestFrame(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for height, want := range map[int]string{0: text, 1: text, 2: "one\n", 3: "one\ntwo\n", 4: text, 50: text} {
		got := frame(text, height)
		if !strings.HasPrefix(got, "\x1b[?7l\x1b[H") || !strings.HasSuffix(got, "\x1b[J\x1b[?7h") || strings.Count(got, "\x1b[K\n") != strings.Count(want, "\n") {
			t.Errorf("height %d: %q", height, got)
		}
		if plain := strings.NewReplacer("\x1b[?7l", "", "\x1b[?7h", "", "\x1b[H", "", "\x1b[K", "", "\x1b[J", "").Replace(got); plain != want {
			t.Errorf("height %d: %q, want %q", height, plain, want)
		}
	}
}
