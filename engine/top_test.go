package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTop(t *testing.T) {
	rules := watchedRules("login", "search")
	whole := watchedRules("whole")[0] // has no key: nobody to rank
	whole.Key = nil
	w, now := watchAt(rules)
	for i := range 6 {
		*now = now.Add(time.Second)
		w.observe(happened(said(rules[0], "ann", i < 4), said(whole, "", true)))
		if i%2 == 0 {
			w.observe(happened(said(rules[1], "bob", true)))
		}
	}
	shadow := said(rules[1], "eve", false)
	shadow.Enforced = false
	w.observe(happened(shadow))

	requests := []TopKey{{"login", "ann", 6, 0}, {"search", "bob", 3, 0}, {"search", "eve", 1, 0}}
	denials := []TopKey{{"login", "ann", 2, 0}, {"search", "eve", 1, 0}}
	for _, c := range []struct {
		by   By
		n    int
		want []TopKey
	}{{ByRequests, 10, requests}, {ByRequests, 2, requests[:2]}, {ByDenials, 10, denials}, {ByDenials, 0, denials[:0]}} {
		if got := w.top(c.by, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("by %d, %d of them: got %v, want %v", c.by, c.n, got, c.want)
		}
	}
	*now = now.Add(3 * time.Minute)
	if got := w.top(ByRequests, 10); len(got) != 0 {
		t.Errorf("after three minutes there still is %v", got)
	}
}

// TestTopOfManyRequests: of more than a stripe looks at, a sample is taken, and the
// count is as near to the truth as it says.
func TestTopOfManyRequests(t *testing.T) {
	const each = 100_000
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	ann, bob := happened(said(rules[0], "ann", true)), happened(said(rules[0], "bob", true))
	for range each {
		w.observe(ann)
		w.observe(bob)
		w.observe(ann)
	}
	top := w.top(ByRequests, 2)
	for i, want := range []TopKey{{Key: "ann", Count: 2 * each}, {Key: "bob", Count: each}} {
		got := top[i]
		if got.Key != want.Key || got.Error == 0 || got.Error > want.Count/10 || max(got.Count-want.Count, want.Count-got.Count) > got.Error {
			t.Errorf("got %+v, want about %+v", got, want)
		}
	}
}

// TestOwnKey: what stands before a key at the store is no part of it.
func TestOwnKey(t *testing.T) {
	for key, want := range map[string]string{
		"login|ann":          "ann",
		"login|ann|10.0.0.1": "ann|10.0.0.1",
		"login|login|ann":    "login|ann",
		"{t1}login|ann":      "ann",
		"login":              "",
		"other|ann":          "other|ann",
		"{broken":            "{broken",
	} {
		o := &Outcome{Rule: watchedRules("login")[0], Key: key}
		if got := ownKey(o); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
}

// TestTopKeysArePrintable: a key cannot write lines of its own, and a long one ends
// with a mark.
func TestTopKeysArePrintable(t *testing.T) {
	rules := watchedRules("a")
	w, _ := watchAt(rules)
	for i, key := range []string{"x\ny\x1b[31m", strings.Repeat("ü", 200)} {
		for range 2 - i {
			w.observe(happened(said(rules[0], key, true)))
		}
	}
	got := fmt.Sprint(w.top(ByRequests, 2)[0].Key, " ", w.top(ByRequests, 2)[1].Key)
	if want := `x\ny\x1b[31m ` + strings.Repeat("ü", 39) + "…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
