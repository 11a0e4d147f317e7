package algotest

import "testing"

// rewriteText parses and rewrites.
func rewriteText(t *testing.T, text string) string {
	t.Helper()
	f, err := parse("x.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rewrite(f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRewriteChangesValuesOnly(t *testing.T) {
	const before = `# A comment.
script s
limit token_bucket 10/1s burst 20

at 0s      cost 20   -> deny   remaining 7   reset 90s   # a comment -> stays
at 0s      cost 1    -> deny   retry 100000us            # right as it is written
at 0s      cost 1    -> allow retry never remaining 1000
at 0s      cost 1    -> deny   retry 1.000001s           # columns keep their place
at 0s      cost 21   -> deny   retry 1s
at 0s      cost 1
at 0s      commit 1 as job -> settled
`
	const after = `# A comment.
script s
limit token_bucket 10/1s burst 20

at 0s      cost 20   -> allow  remaining 0   reset 2s    # a comment -> stays
at 0s      cost 1    -> deny   retry 100000us            # right as it is written
at 0s      cost 1    -> deny retry 100ms remaining 0
at 0s      cost 1    -> deny   retry 100ms               # columns keep their place
at 0s      cost 21   -> deny   retry never
at 0s      cost 1
at 0s      commit 1 as job -> unsettled
`
	got := rewriteText(t, before)
	if got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
	if again := rewriteText(t, got); again != got {
		t.Errorf("a second time it changes to\n%s", again)
	}
}

func TestRewriteNamesTheBound(t *testing.T) {
	const head = "script s\nlimit a: token_bucket 10/1s\nlimit b: fixed_window 5/1m\n"
	got := rewriteText(t, head+"at 0s cost 6 -> allow by a retry 1s a: deny b: remaining 0")
	if want := head + "at 0s cost 6 -> deny by b retry never a: allow b: remaining 5"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRewriteTrimsLines(t *testing.T) {
	if got, want := rewriteText(t, "script s  \nlimit ban\nat 0s reset "), "script s\nlimit ban\nat 0s reset"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRewriteReportsWhatCannotBePlayed(t *testing.T) {
	f, err := parse("x.txt", "script s\nlimit unlimited\nat 0s cost 2e15")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = rewrite(f); err == nil || err.Error()[:9] != "x.txt:3: " {
		t.Errorf("got %v", err)
	}
}
