package httplimit

import (
	"encoding/json"
	"testing"
)

// TestProblemText: what is written by hand is what encoding/json would write.
func TestProblemText(t *testing.T) {
	for _, text := range []string{"", "login per minute", `a"b`, `a\b`, "<a&b>", "ü", "\x00\n\x7f", "\xff", "\u2028"} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText([]byte("x"), text); string(got) != "x"+string(want) {
			t.Errorf("%q: %s, want %s", text, got[1:], want)
		}
	}
}

func FuzzProblemText(f *testing.F) {
	f.Add("login")
	f.Fuzz(func(t *testing.T, text string) {
		if want, _ := json.Marshal(text); string(appendText(nil, text)) != string(want) {
			t.Errorf("%q: %s, want %s", text, appendText(nil, text), want)
		}
	})
}
