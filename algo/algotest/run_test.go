package algotest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// playText plays a text on the Model, or on the given store, and returns what
// Run would report.
func playText(t *testing.T, text string, stores ...store.Store) []string {
	t.Helper()
	f, err := parse("x.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	var reports []string
	for _, s := range f.scripts {
		p := newPlayer()
		p.store = NewModel(p.now)
		if len(stores) > 0 {
			p.store = stores[0]
		}
		if err := p.play(s); err != nil {
			reports = append(reports, fmt.Sprintf("x.txt:%d: %v", p.line, err))
		}
		for _, d := range p.diffs {
			reports = append(reports, fmt.Sprintf("x.txt:%d: %s", d.line, d))
		}
	}
	return reports
}

// TestRunnerCanFail gives every field a wrong value.
func TestRunnerCanFail(t *testing.T) {
	const head = "script s\nlimit token_bucket 10/1s burst 20\n"
	const named = "script s\nlimit a: token_bucket 10/1s\nlimit b: fixed_window 5/1m\n"
	for _, c := range []struct{ text, want string }{
		{head + "at 0s cost 1 -> deny", "x.txt:3: verdict: got allow, want deny"},
		{head + "at 0s cost 21 -> allow", "x.txt:3: verdict: got deny, want allow"},
		{head + "at 0s cost 1 -> allow remaining 18", "x.txt:3: remaining: got 19, want 18"},
		{head + "at 0s cost 20 -> allow\nat 0s cost 1 -> deny retry 99999us", "x.txt:4: retry: got 100ms, want 99999us"},
		{head + "at 0s cost 21 -> deny retry 1s", "x.txt:3: retry: got never, want 1s"},
		{head + "at 0s cost 20\nat 0s cost 1 -> retry never", "x.txt:4: retry: got 100ms, want never"},
		{head + "at 0s cost 20 -> reset 1s", "x.txt:3: reset: got 2s, want 1s"},
		{head + "at 0s cost 20\nat 0s cost 3 wait 1s -> wait 0s", "x.txt:4: wait: got 300ms, want 0s"},
		{head + "at 0s commit 1 as job -> settled", "x.txt:3: verdict: got unsettled, want settled"},
		{head + "at 0s cost 1 as b\nat 0s cancel 1 as b\nat 0s cancel 1 as b -> settled", "x.txt:5: verdict: got unsettled, want settled"},
		{named + "at 0s cost 6 -> deny by a", "x.txt:4: by: got b, want a"},
		{named + "at 0s cost 1 -> allow b: remaining 9", "x.txt:4: b: remaining: got 4, want 9"},
		{named + "at 0s cost 6 -> deny a: deny", "x.txt:4: a: verdict: got allow, want deny"},
		{"script s\nlimit sliding_log 9/1s 5/1m\nat 0s cost 1 -> by 9/1s", "x.txt:3: by: got 5/1m, want 9/1s"},
		{head + "at 0s cost 2e15", "x.txt:3: store: check 0: cost 2000000000000000: cost must be 0 to 1e15"},
	} {
		if got := playText(t, c.text); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// generous is a wrong store: it allows all.
type generous struct{}

func (generous) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	for i := range checks {
		checks[i].Verdict.Allowed = true
	}
	return nil
}

// broken cannot decide.
type broken struct{}

var errBroken = errors.New("out of order")

func (broken) Take(context.Context, store.Op, []store.Check) error { return errBroken }

// TestRunnerSeesWrongStores plays all scripts on stores that are wrong: every
// script must notice, save those in which nothing is ever denied.
func TestRunnerSeesWrongStores(t *testing.T) {
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, s := range f.scripts {
			p := newPlayer()
			p.store = generous{}
			if err := p.play(s); err != nil || len(p.diffs) == 0 && s.name != "unlimited_allows_all" {
				t.Errorf("%s: %s: a store that allows all passes, error %v", f.name, s.name, err)
			}
			p = newPlayer()
			p.store = broken{}
			if err := p.play(s); !errors.Is(err, errBroken) {
				t.Errorf("%s: %s: error of the store: got %v", f.name, s.name, err)
			}
		}
	}
}

func TestTheClockFollowsTheScript(t *testing.T) {
	var seen []string
	p := newPlayer()
	p.store = spy(func() { seen = append(seen, p.now().Format(time.RFC3339Nano)) })
	f, err := parse("x.txt", "script s\nlimit unlimited\nat 1.000001s cost 1\nat -1h cost 1\nat 1y reset")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.play(f.scripts[0]); err != nil {
		t.Fatal(err)
	}
	want := "2024-01-01T00:00:01.000001Z 2023-12-31T23:00:00Z 2024-12-31T00:00:00Z"
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// spy is a store that only tells that it was asked.
type spy func()

func (f spy) Take(context.Context, store.Op, []store.Check) error { f(); return nil }

func TestEveryAlgorithmHasTwelveScripts(t *testing.T) {
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, f := range files {
		count[f.name] = len(f.scripts)
		t.Logf("%-36s %d scripts", f.name, len(f.scripts))
	}
	for _, name := range []string{
		"fixed_window", "sliding_window", "weighted", "sliding_log", "token_bucket",
		"token_bucket_interval", "leaky_bucket", "warm_up", "multi", "reserve", "shadow",
	} {
		if n := count["scripts/"+name+".txt"]; n < 12 {
			t.Errorf("%s: got %d scripts, want at least 12", name, n)
		}
	}
}
