//go:build !race

package recommend

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
)

// TestRecommendedLabels: who does not count, beside visitors of whom hardly one is above 30 a minute.
func TestRecommendedLabels(t *testing.T) {
	burst := func(n int, change func(i int, e *accesslog.Entry)) []accesslog.Entry {
		var entries []accesslog.Entry
		for i := range n {
			e := accesslog.Entry{Time: midnight + day + int64(i)*100_000, IP: address(1 << 20), Method: "GET", Path: "/" + strings.Repeat("x", i%50), Status: 200}
			change(i, &e)
			entries = append(entries, e)
		}
		return entries
	}
	nothing := func(int, *accesslog.Entry) {}
	for _, c := range []struct {
		name   string
		what   []accesslog.Entry
		labels Labels
		why    string
	}{
		{"a visitor", burst(40, nothing), Labels{}, ""},
		{"a busy visitor", burst(60, nothing), Labels{}, ""},
		{"a flood", burst(400, nothing), Labels{}, "far out: 400 in a period"},
		{"a flood that is known", burst(400, nothing), Labels{Good: []string{"10.16.0.0/24"}}, ""},
		{"somebody known by key", burst(400, nothing), Labels{Good: []string{address(1 << 20).String()}}, ""},
		{"somebody bad", burst(3, nothing), Labels{Bad: []string{"10.16.0.0"}}, "labelled bad"},
		{"hammering", burst(60, func(_ int, e *accesslog.Entry) { e.Method, e.Path = "POST", "/login" }), Labels{}, "hammering: 100 % of its requests are POST /login"},
		{"hammering slowly", burst(60, func(i int, e *accesslog.Entry) { e.Path, e.Time = "/login", e.Time+int64(i)*60e6 }), Labels{}, ""},
		{"a scanner", burst(30, func(i int, e *accesslog.Entry) { e.Status = 404 }), Labels{}, "scanner: 100 % of its answers are 4xx"},
		{"some mistakes", burst(30, func(i int, e *accesslog.Entry) { e.Status = 200 + i%3/2*204 }), Labels{}, ""},
		{"refused by a limit", burst(30, func(i int, e *accesslog.Entry) { e.Status = 429 }), Labels{}, ""},
		{"a few mistakes", burst(10, func(i int, e *accesslog.Entry) { e.Status = 404 }), Labels{}, ""},
		{"logged in", burst(400, func(i int, e *accesslog.Entry) { e.User, e.Status = "alice", 404 }), Labels{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			traffic := collect(t, sorted(append(visitors(1, 3000, 3), c.what...)))
			p := traffic.cut(midnight, midnight+3*day, time.Minute)
			f := fitLabels(p, c.labels)
			f.label(p)
			spans, _ := p.uncounted()
			if c.why == "" && len(spans) > 0 || c.why != "" && (len(spans) != 1 || !strings.HasPrefix(p.spans[spans[0]].why, c.why)) {
				for _, i := range spans {
					t.Errorf("%s: %s", p.traffic.keys[p.spans[i].key].name, p.spans[i].why)
				}
				t.Errorf("want %q; far is %d", c.why, f.tails[0].far)
			}
		})
	}
}

// TestTwoGroups: a large group is told of if it decides the limit.
func TestTwoGroups(t *testing.T) {
	client := func(i, requests int) (entries []accesslog.Entry) {
		for n := range requests {
			at := midnight + day/2 + int64(i)*60e6 + int64(n)*100_000
			entries = append(entries, accesslog.Entry{Time: at, IP: address(1<<20 + i), Method: "GET", Path: "/" + strings.Repeat("x", n%50), Status: 200})
		}
		return entries
	}
	entries := visitors(1, 1500, 2)
	for i := range 200 {
		entries = append(entries, client(i, 150+i%20)...)
	}
	for _, c := range []struct {
		busiest int
		group   int64
	}{{150, 200}, {500, 0}} {
		log := sorted(append(slices.Clone(entries), client(1000, c.busiest)...))
		o := Options{Algorithms: []sluice.Algorithm{sluice.SlidingLog}, Labels: Labels{Good: []string{address(1<<20 + 1000).String()}}}
		r, err := Run(t.Context(), collect(t, log), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Labels.Group; got < c.group || got > c.group+1 {
			t.Errorf("somebody has %d: a group of %d, want %d; %s", c.busiest, got, c.group, r.Fits[0].Limit)
		}
	}
}
