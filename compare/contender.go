package compare

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Algorithms returns one limit for each algorithm, all of the same rate. Of a burst, which
// limit may have, only buckets know; in a queue nobody waits for longer than a period.
func Algorithms(limit sluice.Limit) ([]sluice.Limit, error) {
	rate := sluice.Per(limit.Count, limit.Period)
	plain := rate.WithBurst(limit.Burst)
	if limit != plain {
		return nil, fmt.Errorf("compare: %v is not for all algorithms: give a rate and perhaps a burst, such as '10/s burst=20', or name the algorithm of every limit", limit)
	}
	weighted := rate.With(sluice.SlidingWindow)
	weighted.Weighted = true
	warm := rate.With(sluice.WarmUp).WithMaxWait(limit.Period)
	warm.WarmUp = 3 * limit.Period
	all := []sluice.Limit{
		rate.With(sluice.FixedWindow), rate.With(sluice.SlidingWindow), weighted, exactLog(limit),
		plain, plain.With(sluice.LeakyBucket).WithMaxWait(limit.Period), warm,
	}
	for _, l := range all {
		if err := l.Validate(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// exactLog is the limit that never admits more than its rate in any period, and never
// less than it could.
func exactLog(l sluice.Limit) sluice.Limit {
	exact := sluice.Per(l.Count, l.Period).With(sluice.SlidingLog)
	if l.Count > 100_000 { // a log that long has to be asked for
		exact.MaxLog = l.Count
	}
	return exact
}

// check refuses limits for which the figures mean nothing.
func check(limits []sluice.Limit) error {
	for _, l := range limits {
		if err := l.Validate(); err != nil {
			return err
		}
		if l.Count < 1 || l.Period < 10*time.Microsecond {
			return fmt.Errorf("compare: %v has no rate to compare: give a limit such as 10/s", l)
		}
	}
	return nil
}

// trait is what is known of an algorithm before it is tried. docs/ALGORITHMS.md says why.
type trait struct {
	performance string
	promise     string // the most that can pass in a period
	waits       bool   // requests may wait for their turn
}

func traits(l sluice.Limit) trait {
	switch l.Algorithm {
	case sluice.FixedWindow:
		return trait{"a few additions", "2N at a boundary", false}
	case sluice.SlidingWindow:
		if l.Weighted {
			return trait{"one division", "below 2N", false}
		}
		return trait{"a sum over counts", "2N a period apart", false}
	case sluice.SlidingLog:
		return trait{"binary searches", "never above N", false}
	case sluice.LeakyBucket:
		return trait{"a few additions", "never above N", true}
	case sluice.WarmUp:
		return trait{"floating point", "never above N", true}
	}
	return trait{"one compare-and-swap", "N + burst", false}
}

// bytesPerKey is about what a key takes in memory when at most live requests are within
// its window.
func bytesPerKey(l sluice.Limit, live int64) int64 {
	switch l.Algorithm {
	case sluice.SlidingLog:
		if live <= 5 {
			return 200
		}
		return 300 + 22*live
	case sluice.SlidingWindow:
		switch {
		case l.Weighted:
		case l.SubWindows > 0 && l.SubWindows <= 3:
			return 100
		default:
			return 200 + 8*int64(max(l.SubWindows-11, 0))
		}
	case sluice.WarmUp:
		return 100
	}
	return 55
}

// nameOf is how a report calls an algorithm.
func nameOf(l sluice.Limit) string {
	switch {
	case l.Weighted:
		return "weighted"
	case l.Algorithm == "":
		return string(sluice.TokenBucket)
	}
	return string(l.Algorithm)
}

// optionsOf is a limit without the name of its algorithm.
func optionsOf(l sluice.Limit) string {
	text := l.String()
	if name, rest, ok := strings.Cut(text, " "); ok && !strings.Contains(name, "/") {
		text = rest
	}
	return strings.TrimSpace(strings.Replace(text, " weighted", "", 1))
}
