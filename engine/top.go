package engine

import "github.com/sluice-limiter/sluice/internal/topkeys"

// By says what makes a key a top key.
type By uint8

// What keys are ranked by.
const (
	ByRequests By = iota
	ByDenials     // refusals, and what a rule in shadow would have refused
)

// TopKey is a key that is busy.
type TopKey struct {
	Rule  string
	Key   string // as it is among those of its rule, ready to be printed; a long one is cut
	Count int64  // since one to two minutes ago
	Error int64  // Count is off by no more than this
}

// Top returns the n busiest keys of all rules that have keys, busiest first, in bounded
// memory: with many keys a count is an estimate whose greatest error it tells. A key
// that makes up one in 200 of what all rules see is hardly ever missed.
//
// The count is about the minute that runs and the one before. Denials are all counted.
// So are the first requests of each minute, some thousands; of more, one in 32 is
// looked at, and then Error holds in all but one of 10,000 cases.
func (e *Engine) Top(by By, n int) []TopKey { return e.watch.top(by, n) }

func (w *watch) top(by By, n int) []TopKey {
	table := w.requests
	if by == ByDenials {
		table = w.denials
	}
	items := table.Top(w.clock.Now(), n)
	keys := make([]TopKey, len(items))
	for i, item := range items {
		count, off := estimate(item)
		keys[i] = TopKey{Rule: item.Label, Key: printable(item.Key, item.Cut), Count: count, Error: off}
	}
	return keys
}

// estimate returns a count, and how far it may be off in either direction.
func estimate(item topkeys.Item) (count, off int64) {
	count, off = int64(item.Count), int64(item.Error)
	if item.Sampled {
		off += int64(topkeys.Deviation(sampledOneIn, item.Count))
	}
	return count, off
}
