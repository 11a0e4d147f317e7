package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/replay"
)

// TestReplaySort: a log whose last request comes first, and which the window does not hold,
// is decided in the order of time: by itself if it can be read again, by --sort if not. Else
// the report says how many lines were late, and what to do.
func TestReplaySort(t *testing.T) {
	const lines = 9000 // of more blocks than the window holds
	var text strings.Builder
	for i := range lines {
		second := lines - 1 - i // of each minute, the first ten seconds are allowed
		fmt.Fprintf(&text, "192.0.2.1 - - [20/Feb/2016:%02d:%02d:%02d +0000] \"GET /%0100d HTTP/1.1\" 200 1 \"-\" \"x\"\n", second/3600, second/60%60, second%60, i)
	}
	name := filepath.Join(t.TempDir(), "backwards.log")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		late  bool
		tells string
	}{
		{[]string{name}, false, "further out of order than 1000 lines"},
		{[]string{"-", "--sort"}, false, ""},
		{[]string{"-"}, true, ""},
	} {
		args := append([]string{"replay", "--limit", "fixed_window 10/m", "--window", "1000", "--sample", "0"}, c.args...)
		out, complaint, code := command(t.Context(), strings.NewReader(text.String()), append(args, "--json")...)
		var r replay.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || !strings.Contains(complaint, c.tells) || c.tells == "" && complaint != "" {
			t.Fatal(err, code, complaint)
		}
		if exact := r.Denied == lines*50/60 && r.Lines.Late == 0; exact == c.late || r.Lines.Parsed != lines || c.late == (r.Lines.Late == 0) {
			t.Errorf("%q: %d refused, %+v", c.args, r.Denied, r.Lines)
		}
		out, _, _ = command(t.Context(), strings.NewReader(text.String()), args...)
		if strings.Contains(out, "--sort puts them in order") != c.late {
			t.Errorf("%q: %s", c.args, out)
		}
	}
}
