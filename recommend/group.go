package recommend

import (
	"slices"
	"sort"
)

// What sets a group apart from the other keys.
const (
	groupFactor = 3    // it has more than so many times the keys that are half as busy
	groupLeast  = 7    // and so many beside
	groupMost   = 0.05 // a larger share of all keys is not left out: it is who comes here
	mostGroups  = 8    // are looked for
)

// group is keys that the others do not lead up to. Of people fewer and fewer are busier
// and busier, so that these are others: programs that one hand has set to one speed.
type group struct {
	// above is what a key of it exceeds on each scale: where the group is apart, what the
	// others stay below, and elsewhere half of what is usual in the group. Whoever is as
	// busy in a minute and not in an hour is somebody else.
	above peaks
	size  int
	ratio float64 // to those just below
}

func (g *group) has(p peaks) bool {
	for i := range p {
		if p[i] <= g.above[i] {
			return false
		}
	}
	return true
}

// largeGroup is keys that are apart, and so many that they count all the same.
type largeGroup struct {
	above int64 // in a period
	size  int
}

// findGroups finds groups, one after another, and returns the keys that are in none.
func findGroups(keys []peaks) (groups []group, rest []peaks, large largeGroup) {
	left, rest := int(groupMost*float64(len(keys))), slices.Clone(keys)
	for len(groups) < mostGroups {
		g := mostApart(rest, left)
		if g.size == 0 {
			break
		}
		rest = slices.DeleteFunc(rest, g.has)
		left -= g.size
		groups = append(groups, g)
	}
	large.above, large.size, _ = apart(column(rest, 0), left+1, len(rest)/2)
	return groups, rest, large
}

// mostApart returns the group of at most so many keys that is further apart on one of the
// scales than any other; its size is 0 if there is none.
func mostApart(keys []peaks, most int) (found group) {
	for i := range scales {
		level, size, ratio := apart(column(keys, i), 0, most)
		if size == 0 || ratio <= found.ratio {
			continue
		}
		if g := alike(keys, i, level); g.size > groupLeast {
			g.ratio = ratio
			found = g
		}
	}
	return found
}

// alike returns the group of the keys above a level on one scale that are alike on the
// others.
func alike(keys []peaks, scale int, level int64) (g group) {
	members := slices.DeleteFunc(slices.Clone(keys), func(p peaks) bool { return p[scale] <= level })
	for i := range scales {
		g.above[i] = column(members, i)[len(members)/2] / 2
	}
	g.above[scale] = level
	for _, p := range members {
		if g.has(p) {
			g.size++
		}
	}
	return g
}

// apart finds the level above which there are most keys in comparison with those just
// below, if that is many more, and from least to most of them.
func apart(sorted []int64, least, most int) (level int64, size int, ratio float64) {
	n := len(sorted)
	if n <= most {
		return 0, 0, 0
	}
	above := func(level int64) int {
		return n - sort.Search(n, func(i int) bool { return sorted[i] > level })
	}
	for at := max(sorted[n-1-most], leastFar); at < sorted[n-1]; at += max(at/8, 1) {
		group := above(at)
		below := above(at/2) - group
		r := float64(group) / float64(below+1)
		if r > ratio && group > groupFactor*below+groupLeast && group >= least {
			level, size, ratio = at, group, r
		}
	}
	return level, size, ratio
}
