package replay

import (
	"iter"

	"github.com/sluice-limiter/sluice/accesslog"
)

// Retime gives every entry the instant that a spread puts it at, changed by move if that
// is not nil: such as to send a log again, faster. Its entries are exact.
func Retime(entries iter.Seq[*accesslog.Entry], spread Spread, seed uint64, move func(at int64) int64) iter.Seq[*accesslog.Entry] {
	return func(yield func(*accesslog.Entry) bool) {
		s := newSpreader(spread, seed)
		for e := range entries {
			moved := *e
			moved.Time, moved.Coarse = s.instant(e), false
			if move != nil {
				moved.Time = move(moved.Time)
			}
			if !yield(&moved) {
				return
			}
		}
	}
}
