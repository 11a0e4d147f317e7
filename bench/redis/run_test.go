package redis

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// testServer starts a redis-server for one test.
func testServer(t *testing.T) *server {
	t.Helper()
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// TestContestantsEnforce asks every contestant once more than its quota allows.
func TestContestantsEnforce(t *testing.T) {
	s := testServer(t)
	two := Quota{Count: 1, Period: 24 * time.Hour, Burst: 2}
	for i, c := range Contestants() {
		t.Run(c.Name, func(t *testing.T) {
			l, err := c.Open(s.env(i), two)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			keys := slices.Repeat([]string{"a-key-of-16-byte"}, max(c.Batch, 1))
			want := []int{1, 1, 0}
			if c.Kind == Floor { // a raw script knows no limit
				want = slices.Repeat([]int{len(keys)}, 3)
			}
			for call, want := range want {
				if got, err := l.Take(context.Background(), keys); got != want || err != nil {
					t.Errorf("call %d: admitted %d, %v; want %d", call, got, err, want)
				}
			}
		})
	}
}

func TestServerCountsScripts(t *testing.T) {
	s := testServer(t)
	l, err := openRawGoRedis(s.env(0), Quota{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before, err := s.stats()
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := l.Take(context.Background(), []string{"k"}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := s.stats()
	if used := after.minus(before); err != nil || used.scripts != 10 || used.commands < 10 {
		t.Errorf("%+v, %v", used, err)
	}
}

// TestRun runs some cases from end to end with one peer.
func TestRun(t *testing.T) {
	var out, progress bytes.Buffer
	rs, err := Run(Config{
		Config: frame.Config{
			Rounds: 2, Time: time.Millisecond, Seed: 3, Cases: regexp.MustCompile("^(one-key-c16|hot-denied)$"),
		},
		Peers: regexp.MustCompile("^ulule$"),
	}, &out, &progress)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rs {
		names = append(names, r.Case)
	}
	if want := "one-key-c16 one-key-c16-p50 one-key-c16-p99 one-key-c16-cpu hot-denied"; strings.Join(names, " ") != want {
		t.Errorf("cases %v", names)
	}
	if best, ok := rs[0].best(); !ok || best.Name != "ulule" || best.Value <= 0 {
		t.Errorf("best peer %+v", best)
	}
	for _, want := range []string{"| ulule | 1000 | 0 | yes |", "\ncase=hot-denied ours=", "### Where we lose"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestCaseNames(t *testing.T) {
	all := " " + strings.Join(CaseNames(), " ") + " "
	for _, want := range []string{
		"one-key-c1", "one-key-c16", "one-key-c128", "100k-keys-c1", "100k-keys-c16", "100k-keys-c128",
		"three-limits-c1", "three-limits-c128", "coalescer-c1", "coalescer-c4", "coalescer-c16", "coalescer-c64",
		"coalescer-c128", "bytes-per-key", "hot-denied", "lease-one", "lease-fleet",
	} {
		if strings.Count(all, " "+want+" ") != 1 {
			t.Errorf("no case %s, or two, in%s", want, all)
		}
	}
}
