package redis

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake denies keys that begin with a "-" and fails on those with a "!".
type fake struct {
	mu   sync.Mutex
	seen map[string]int
}

func (f *fake) Take(_ context.Context, keys []string) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	admitted := 0
	for _, k := range keys {
		f.seen[k]++
		if k[0] == '!' {
			return 0, errors.New("failed")
		}
		if k[0] != '-' {
			admitted++
		}
	}
	return admitted, nil
}

func (f *fake) Close() {}

func newFake() *fake { return &fake{seen: map[string]int{}} }

func TestFillAsksOncePerKey(t *testing.T) {
	keys := append(makeKeys(998), "-", "!")
	for _, batch := range []int{1, 10} {
		f := newFake()
		got := load{callers: 4, batch: batch, keys: keys}.fill(f, time.Hour)
		if len(f.seen) != len(keys) {
			t.Errorf("batches of %d: %d of %d keys were asked for", batch, len(f.seen), len(keys))
		}
		for k, n := range f.seen {
			if n != 1 {
				t.Errorf("batches of %d: %s was asked for %d times", batch, k, n)
			}
		}
		if got.total() != int64(len(keys)) || got.errors != int64(batch) {
			t.Errorf("batches of %d: %+v", batch, got)
		}
	}
}

func TestRunCountsAndTimes(t *testing.T) {
	f := newFake()
	out := load{callers: 3, batch: 1, keys: []string{"a", "-", "!"}, every: 2, seed: 1}.run(f, time.Millisecond)
	if out.admitted != int64(f.seen["a"]) || out.denied != int64(f.seen["-"]) || out.errors != int64(f.seen["!"]) {
		t.Errorf("%+v of %v", out.tally, f.seen)
	}
	// Every caller takes the time of its calls 0, 2, 4, ….
	if least := uint64(out.total()) / 2; out.times.total < least || out.times.total > least+3 {
		t.Errorf("%d of %d calls were timed", out.times.total, out.total())
	}
}

func TestForEntrantLeavesTheLoadAlone(t *testing.T) {
	l := load{callers: 128}
	few := l.forEntrant(&entrant{Contestant: Contestant{MaxCallers: 4, Batch: 32}})
	many := l.forEntrant(&entrant{})
	if few.callers != 4 || few.batch != 32 || many.callers != 128 || many.batch != 1 {
		t.Errorf("got %+v and %+v", few, many)
	}
}

func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range makeKeys(10_000) {
		if len(k) != keyLen || seen[k] {
			t.Fatalf("key %q", k)
		}
		seen[k] = true
	}
}

func TestFigureTellsUnwantedOutcomes(t *testing.T) {
	r := &Runner{}
	e := &entrant{Contestant: Contestant{Note: "GCRA"}, tally: tally{admitted: 970, denied: 5, errors: 25, first: errors.New("late")}}
	f := r.figure(e, allAdmitted)
	if want := `GCRA; 2.5 % errors, such as "late"; 0.50 % denied`; f.Note != want || f.Counts {
		t.Errorf("got %q, want %q", f.Note, want)
	}
	e.tally = tally{admitted: 1, denied: 999}
	if f := r.figure(e, mostDenied); f.Note != "GCRA" || !f.Counts {
		t.Errorf("got %+v", f)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		c     Contestant
		t     tally
		exact bool
		why   string
	}{
		{Contestant{}, tally{admitted: once.Burst, denied: 1}, true, ""},
		{Contestant{Doubt: "known"}, tally{admitted: once.Burst}, false, "known"},
		{Contestant{}, tally{admitted: once.Burst + 1}, false, "over"},
		{Contestant{}, tally{admitted: once.Burst - 1}, false, "under"},
		{Contestant{}, tally{admitted: once.Burst, errors: 1}, false, "errors"},
	} {
		if v := judge(c.c, c.t); v.exact != c.exact || !strings.Contains(v.why, c.why) {
			t.Errorf("%+v: %+v", c.t, v)
		}
	}
}

func TestParseInfo(t *testing.T) {
	const text = "# CPU\r\nused_cpu_sys_main_thread:1.5\r\nused_cpu_user_main_thread:2.25\r\n" +
		"# Memory\r\nused_memory:1000\r\ntotal_commands_processed:77\r\n" +
		"# Commandstats\r\ncmdstat_evalsha:calls=12,usec=34,usec_per_call=2.83\r\ncmdstat_eval:calls=1,usec=3\r\n"
	got, err := parseInfo(text)
	if want := (stats{cpu: 3.75, memory: 1000, scripts: 13, commands: 77}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseInfo("used_memory:1000"); err == nil || !strings.Contains(err.Error(), "used_cpu") {
		t.Errorf("a missing field gave %v", err)
	}
}
