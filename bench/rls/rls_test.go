package rls

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestSum(t *testing.T) {
	var w worker
	for n := range 200 {
		w.took = append(w.took, time.Duration(200-n)*time.Millisecond)
	}
	w.over = 50
	r, err := sum([]worker{w, {}}, 2*time.Second)
	if err != nil || r.rate != 100 || r.p50 != 101*time.Millisecond || r.p99 != 199*time.Millisecond || r.over != 0.25 {
		t.Errorf("%+v, %v", r, err)
	}
	w.errors, w.err = 150, errors.New("why")
	if _, err := sum([]worker{w}, time.Second); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("a server that fails: %v", err)
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	base := &entrant{name: "no-op", rounds: []round{{rate: 100}, {rate: 300}, {rate: 200}}}
	other := &entrant{name: "other", rounds: []round{{rate: 100, p99: time.Millisecond, errors: 2}, {rate: 100, p99: 3 * time.Millisecond, errors: 1}}}
	lineups()[0].print(&b, []*entrant{base, other})
	for _, want := range []string{"| other | 100 | 0.50 | 0 | 2000 | 0 % | 3 |", `case=one-key entrant="other" rps=100 ratio=0.50 p50_us=0 p99_us=2000 over=0.000 errors=3`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestRequestsOfACaseDiffer(t *testing.T) {
	for _, l := range lineups() {
		seen := map[string]bool{}
		for n := range 100 {
			seen[l.load.request(n * 7919 % l.load.values).GetDescriptors()[0].GetEntries()[0].GetValue()] = true
		}
		if want := min(l.load.values, 100); len(seen) != want {
			t.Errorf("%s: %d keys in 100 requests, want %d", l.name, len(seen), want)
		}
	}
}
