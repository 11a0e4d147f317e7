package algotest

import (
	"strings"
	"testing"
)

func TestParseErrorsNameTheLineAndWhatWasExpected(t *testing.T) {
	const head = "script s\nlimit token_bucket 10/1s\n"
	const named = "script s\nlimit a: token_bucket 10/1s\n"
	for _, c := range []struct{ text, want string }{
		{"at 0s cost 1", `x.txt:1: "at": expected script NAME first`},
		{"script", "x.txt:1: expected script NAME, a single word"},
		{"script a b", "x.txt:1: expected script NAME, a single word"},
		{head + "script s", `x.txt:3: "s": expected a new name, this one is taken`},
		{"script s\n", "x.txt: script s: expected steps"},
		{"script s\nat 0s cost 1", "x.txt:2: expected a limit before the first request"},
		{head + "\tat 0s cost 1", "x.txt:3: expected spaces only, found a tab or carriage return"},
		{head + "after 0s cost 1", `x.txt:3: "after": expected script, limit or at`},
		{head + "at cost 1", `x.txt:3: "cost": expected a duration`},
		{head + "at 0 cost 1", `x.txt:3: "0": expected a duration`},
		{head + "at 0s take 1", `x.txt:3: "take": expected cost, reserve, commit, cancel, refund or reset`},
		{head + "at 0s cost x", `x.txt:3: "x": expected a whole number`},
		{head + "at 0s cost -1", `x.txt:3: "-1": expected a whole number`},
		{head + "at 0s cost 1.5", `x.txt:3: "1.5": expected a whole number`},
		{head + "at 0s cost 1 hold 1s", `x.txt:3: "hold": expected ->, or a detail`},
		{head + "at 0s cost 1 wait soon", `x.txt:3: "soon": expected a duration`},
		{head + "at 0s reserve 1", "x.txt:3: expected reserve N as ID"},
		{head + "at 0s commit 1", "x.txt:3: expected commit N as ID"},
		{head + "at 0s cancel 1", "x.txt:3: expected cancel N as ID"},
		{head + "at 0s cancel 1 as a", `x.txt:3: "a": expected the name of a booking`},
		{head + "at 0s refund 1 as a", `x.txt:3: "as": expected ->`},
		{head + "at 0s commit 1 as a wait 1s", `x.txt:3: "wait": expected ->`},
		{head + "at 0s cost 1 on a", `x.txt:3: "a": expected the name of a limit`},
		{head + "at 0s refund 1 -> allow", "x.txt:3: expected no ->: this request has no answer"},
		{head + "at 0s cost 1 ->", "x.txt:3: expected an answer after ->"},
		{head + "at 0s cost 1 -> allowed", `x.txt:3: "allowed": expected allow, deny, remaining`},
		{head + "at 0s cost 1 -> remaining", `x.txt:3: "": expected a whole number`},
		{head + "at 0s cost 1 -> reset never", `x.txt:3: "never": expected a duration`},
		{head + "at 0s cost 1 -> by", "x.txt:3: expected the name of a limit or window after by"},
		{head + "at 0s cost 1 -> a: allow", `x.txt:3: "a": expected the name of a limit`},
		{head + "at 0s commit 1 as a -> allow", `x.txt:3: "allow": expected settled or unsettled`},
		{head + "limit b: ban", "x.txt:3: expected one limit without a name, or only limits with names"},
		{named + "limit ban", "x.txt:3: expected one limit without a name, or only limits with names"},
		{"script s\nlimit bucket 1/1s", `x.txt:2: "bucket": expected an algorithm`},
		{"script s\nlimit token_bucket 10", `x.txt:2: "10": expected a rate such as 10/1s`},
		{"script s\nlimit token_bucket x/1s", `x.txt:2: "x": expected a whole number`},
		{"script s\nlimit token_bucket 10/s", `x.txt:2: "s": expected a duration`},
		{"script s\nlimit token_bucket 10/1s sub 2", `x.txt:2: "sub": expected one of ["burst" "refill" "max_wait"] or ordinal`},
		{"script s\nlimit token_bucket 10/1s refill slowly", `x.txt:2: "slowly": expected refill interval`},
		{"script s\nlimit token_bucket 10/1s burst 0", "x.txt:2: algo: burst out of range"},
		{"script s\nlimit warm_up 10/1s warm 1s cold x", `x.txt:2: "x": expected a cold factor`},
		{"script s\nlimit fixed_window 1/1d bounds 0d 1", `x.txt:2: "1": expected a duration`},
	} {
		_, err := parse("x.txt", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s…", c.text, err, c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  int64
		again string
	}{
		{"0s", 0, "0s"},
		{"1us", 1, "1us"},
		{"99999us", 99_999, "99.999ms"},
		{"100ms", 100_000, "100ms"},
		{"1.000001s", 1_000_001, "1.000001s"},
		{"1.5s", 1_500_000, "1.5s"},
		{"60s", 60e6, "1m"},
		{"1m30s", 90e6, "90s"},
		{"90m", 5400e6, "90m"},
		{"1h", 3600e6, "1h"},
		{"1d", 86400e6, "1d"},
		{"1y", 365 * 86400e6, "365d"},
		{"1s-1us", 999_999, "999.999ms"},
		{"1h1s+1us-1ms", 3600_999_001, "3600.999001s"},
		{"-1h", -3600e6, "-1h"},
	} {
		got, err := parseDuration(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", c.text, got, err, c.want)
		}
		if again := formatDuration(got); again != c.again {
			t.Errorf("%s: written as %s, want %s", c.text, again, c.again)
		}
		if back, err := parseDuration(formatDuration(got)); err != nil || back != got {
			t.Errorf("%s: comes back as %d, %v", c.text, back, err)
		}
	}
	for _, text := range []string{
		"", "-", "1", "s", "1.5us", "0.0000001s", "1..5s", "1.s.", "1s1", "1s+", "1s--1us", "1 s", "1w", "µs",
		"99999999999999999999s", "9999999999d", ".5s",
	} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "10": 10, "1e6": 1e6, "1e15": 1e15, "2.5e3": 2500, "999999937": 999999937} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "1.5", "1e19", "NaN", "Inf", "ten"} {
		if got, err := parseCount(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("script s\nlimit a: token_bucket 10/1s burst 20 # x\nat 1s-1us cost 1 on a -> allow a: remaining 0")
	f.Add("script s\nlimit sliding_log 1/1s 5/1m\nat 0s reserve 1 as j hold 1s -> deny by 1/1s retry never\nat 1s commit 0 as j -> settled")
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := parse("x.txt", text); err == nil && strings.Join(parsed.lines, "\n") != text {
			t.Errorf("the text changed")
		}
	})
}
