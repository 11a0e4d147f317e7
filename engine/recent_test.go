package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluice-limiter/sluice"
)

func TestRecent(t *testing.T) {
	rules := watchedRules("login", "search")
	w, now := watchAt(rules)
	start := *now
	if got := w.recent(5); got != nil {
		t.Errorf("before anything happened there is %v", got)
	}
	shadow := said(rules[1], "bob", false)
	shadow.Enforced = false
	noRule := happened()
	noRule.Decision = refusal(sluice.NoRule, nil)
	ambiguous := happened()
	ambiguous.Decision, ambiguous.Path, ambiguous.Request.Path = refusal(sluice.Ambiguous, nil), "", "/a%2fb"
	for _, e := range []*Event{
		happened(said(rules[0], "ann", true)), // is no refusal
		happened(said(rules[1], "ann", true), said(rules[0], "ann|10.0.0.1", false)),
		happened(said(rules[0], "bob", true), shadow),
		noRule,
		ambiguous,
	} {
		w.observe(e)
		*now = now.Add(time.Second)
	}
	want := []Record{
		{Time: start.Add(4 * time.Second), Method: "GET", Path: "/a%2fb", Reason: sluice.Ambiguous},
		{Time: start.Add(3 * time.Second), Method: "GET", Path: "/a", Reason: sluice.NoRule},
		{Time: start.Add(2 * time.Second), Shadow: true, Rule: "search", Key: "bob", Cost: 1, Method: "GET", Path: "/a"},
		{Time: start.Add(1 * time.Second), Rule: "login", Limit: "burst", Key: "ann|10.0.0.1", Cost: 1, Method: "GET", Path: "/a", Reason: sluice.Limited},
	}
	for n := range 6 {
		got := w.recent(n)
		if len(got) != min(n, len(want)) {
			t.Fatalf("%d of %d records", len(got), n)
		}
		for i, r := range got {
			if !r.Time.Equal(want[i].Time) {
				t.Errorf("record %d is of %v, want %v", i, r.Time, want[i].Time)
			}
			if r.Time = want[i].Time; r != want[i] {
				t.Errorf("record %d is %+v, want %+v", i, r, want[i])
			}
		}
	}
}

// TestRecentHoldsNothing: the texts are copies, since the memory of an event is used
// again at once.
func TestRecentHoldsNothing(t *testing.T) {
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	e := happened(said(rules[0], "ann", false))
	w.observe(e)
	*e.Request = Request{Method: "PUT"}
	e.Path, e.Outcomes[0] = "/z", said(rules[0], "zoe", true)
	if got := w.recent(1)[0]; got.Method != "GET" || got.Path != "/a" || got.Key != "ann" {
		t.Errorf("got %+v", got)
	}
}

// TestRecentIsARing: the last ones are kept, newest first, and no more.
func TestRecentIsARing(t *testing.T) {
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	for i := range RecentSize + 10 {
		w.observe(happened(said(rules[0], fmt.Sprint(i), false)))
	}
	got := w.recent(1 << 20)
	if len(got) != RecentSize {
		t.Fatalf("%d records, want %d", len(got), RecentSize)
	}
	for i, r := range got {
		if want := fmt.Sprint(RecentSize + 9 - i); r.Key != want {
			t.Fatalf("record %d is of %s, want %s", i, r.Key, want)
		}
	}
}

func TestRecentConcurrentSafe(t *testing.T) {
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprint("user-", i)
			e := happened(said(rules[0], name, false))
			e.Path = "/" + name
			for range 1000 {
				w.observe(e)
				for _, r := range w.recent(3) {
					if r.Path != "/"+r.Key {
						t.Errorf("a record is of two requests: %+v", r)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := len(w.recent(RecentSize)); got != RecentSize {
		t.Errorf("%d records", got)
	}
}

func TestPrintable(t *testing.T) {
	for _, c := range []struct {
		text string
		cut  bool
		want string
	}{
		{"", false, ""},
		{"ann", false, "ann"},
		{"ann", true, "ann…"},
		{"größe 漢", false, "größe 漢"},
		{"a\r\nINFO all is well", false, `a\r\nINFO all is well`},
		{"\x1b[2J", false, `\x1b[2J`},
		{"\xff\x00", false, `\xff\x00`},
		{"a\u202eb\u2028", false, `a\u202eb\u2028`},
		{"漢"[:2], true, "…"},
		{"a漢"[:2], true, "a…"},
		{"a漢"[:2], false, `a\xe6`},
		{"漢", true, "漢…"},
	} {
		if got := printable(c.text, c.cut); got != c.want {
			t.Errorf("%q, cut %v: got %q, want %q", c.text, c.cut, got, c.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\nb", true)
	f.Add("\xe6\xbc", false)
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		got := printable(text, cut)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 || r == 0x85 }) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
