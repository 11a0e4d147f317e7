package recommend

import (
	"slices"
	"testing"
)

// people are keys of whom fewer and fewer are busier and busier: one in a thousand has
// 100 in a period.
func people(n int) (keys []peaks) {
	for i := range n {
		peak := int64(100 * n / (n + 999*i))
		keys = append(keys, peaks{peak, 2 * peak, 3 * peak, 4 * peak})
	}
	return keys
}

// clones are keys that are alike, up to a fifth.
func clones(n int, of peaks) (keys []peaks) {
	for i := range n {
		p := of
		for scale := range p {
			p[scale] += p[scale] * int64(i) / int64(5*n)
		}
		keys = append(keys, p)
	}
	return keys
}

// TestGroups: who is left out of 2,000 people and some programs.
func TestGroups(t *testing.T) {
	steady, bursts := peaks{130, 1300, 4000, 4000}, peaks{400, 400, 400, 400}
	for _, c := range []struct {
		name     string
		programs []peaks
		groups   int
		large    int
	}{
		{"nobody else", nil, 0, 0},
		{"a few", clones(5, steady), 0, 0},
		{"a group that goes on", clones(20, steady), 1, 0},
		{"a group in bursts", clones(20, bursts), 1, 0},
		{"one of each", slices.Concat(clones(20, steady), clones(20, bursts)), 2, 0},
		{"very many", clones(200, bursts), 0, 200},
		{"two that are very many together", slices.Concat(clones(60, steady), clones(60, bursts)), 1, 61}, // and the busiest of the people
	} {
		busy := people(2000)
		groups, rest, large := findGroups(append(busy, c.programs...))
		if len(groups) != c.groups || large.size != c.large {
			t.Errorf("%s: %+v, large %+v", c.name, groups, large)
		}
		if left := len(busy) + len(c.programs) - len(rest); c.large == 0 && c.groups > 0 && left != len(c.programs) {
			t.Errorf("%s: %d keys left out of %d", c.name, left, len(c.programs))
		}
		for i, p := range busy {
			if slices.ContainsFunc(groups, func(g group) bool { return g.has(p) }) {
				t.Errorf("%s: key %d with %d does not count", c.name, i, p)
			}
		}
	}
}

// TestSomebodyElse: who is as busy as a group on one scale, and not on all, is not of it.
func TestSomebodyElse(t *testing.T) {
	for _, somebody := range []peaks{{180, 180, 250, 300}, {60, 1600, 4000, 4000}, {180, 1600, 1600, 1600}} {
		keys := append(people(2000), clones(20, peaks{150, 1500, 4000, 4000})...)
		groups, rest, _ := findGroups(append(keys, somebody))
		if len(groups) != 1 || !slices.Contains(rest, somebody) {
			t.Errorf("%d: %+v", somebody, groups)
		}
	}
}

// TestGoingOn: whoever is not far out in a period has to be so much the further in many.
func TestGoingOn(t *testing.T) {
	f := labeller{tails: [len(scales)]tail{{busy: 50, far: 100}, {50, 100}, {50, 100}, {50, 100}}}
	for _, c := range []struct {
		peaks peaks
		going bool
	}{
		{peaks{101, 200, 200, 200}, false},
		{peaks{101, 200, 200, 201}, true},
		{peaks{100, 201, 300, 400}, false},
		{peaks{100, 201, 401, 401}, true},
		{peaks{50, 500, 5000, 5000}, false},
	} {
		if why := f.goingOn(&span{peaks: c.peaks}); (why != "") != c.going {
			t.Errorf("%d: %q", c.peaks, why)
		}
	}
}
