package replay

import (
	"testing"
	"unicode/utf8"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		n, all int64
		want   string
	}{
		{0, 0, "0 x"},
		{0, 10, "0 (0 %) x"},
		{10, 10, "10 (100 %) x"},
		{1, 3, "1 (33.3 %) x"},
		{1758, 206_860, "1,758 (0.85 %) x"},
		{1, 10_000_000, "1 (< 0.001 %) x"},
		{9_999_999, 10_000_000, "9,999,999 (> 99.9 %) x"},
		{1, 50_000, "1 (0.002 %) x"},
	} {
		if got := share(c.n, c.all, "x"); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.n, c.all, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "12345": "12345", "123456": "12...", "éééééé": "éé..."} {
		if got := cut(text, 5); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
