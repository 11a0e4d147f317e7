package topkeys

import (
	"cmp"
	"slices"
)

// Item is a key and how often it was added.
type Item struct {
	Label string
	Key   string // its first KeyBytes bytes
	Cut   bool   // the key is longer
	Count uint64 // at most so often
	Error uint64 // and at least Count − Error

	Sampled bool // both are about a sample: see Deviation
}

// Top returns the n keys that were added most often, most first, in the window that
// runs at now and the one before.
func (t *Table) Top(now int64, n int) []Item {
	if n <= 0 {
		return nil
	}
	parts := t.copies(now)
	items := map[uint64]Item{}
	for _, p := range parts {
		for i, hash := range p.hashes {
			if _, seen := items[hash]; hash != 0 && !seen {
				items[hash] = merge(parts, hash, &p.texts[i])
			}
		}
	}
	top := make([]Item, 0, len(items))
	for _, item := range items {
		top = append(top, item)
	}
	slices.SortFunc(top, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Error, b.Error), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Key, b.Key))
	})
	return slices.Clip(top[:min(n, len(top))])
}

// merge sums up what all parts know about a key. A part that has no counter for it
// may have counted it unseen, so that adds to the error.
func merge(parts []*summary, hash uint64, text *text) Item {
	item := Item{Label: text.label, Key: string(text.key[:text.size]), Cut: text.cut}
	for _, p := range parts {
		known := p.tally(hash)
		item.Count += known.count
		item.Error += known.excess
		item.Sampled = item.Sampled || p.sampled
	}
	return item
}

// copies returns both windows of every stripe, each stripe at one moment.
func (t *Table) copies(now int64) []*summary {
	var all []*summary
	for i := range t.stripes {
		s := &t.stripes[i]
		s.mu.Lock()
		if s.current != nil {
			s.turn(now / t.window)
			current, previous := *s.current, *s.previous
			all = append(all, &current, &previous)
		}
		s.mu.Unlock()
	}
	return all
}
