package oracle

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// Terms is what a fault allows beyond the definition of the limit.
type Terms struct {
	Lost int64 // admitted cost per key that the store may have forgotten
}

// Check judges all keys of a log, which all have the same limit, and reports what
// is wrong. It returns how many denials could be judged.
func (l *Log) Check(t testing.TB, def algo.Spec, terms Terms) (judged int) {
	t.Helper()
	entries := l.Entries()
	if begun := l.begun.Load(); begun != int64(len(entries)) {
		t.Errorf("I3: %d requests were made, %d were answered", begun, len(entries))
	}
	for key, list := range byKey(entries) {
		problems, n := Judge(def, list, terms)
		judged += n
		for _, p := range problems[:min(5, len(problems))] {
			t.Errorf("key %q, %s: %s", key, algotest.Describe(def), p)
		}
	}
	return judged
}

// CheckSpent checks I3 for the budget of a key: what the store counts as spent is
// at least what it admitted, and at most that plus what failed, once each.
func (l *Log) CheckSpent(t testing.TB, key string, spent int64) {
	t.Helper()
	admitted, failed := l.Cost(key, Admitted), l.Cost(key, Failed)
	if spent < admitted || spent > admitted+failed {
		t.Errorf("I3: key %q: %d were spent, %d were admitted and %d failed", key, spent, admitted, failed)
	}
}

func byKey(entries []Entry) map[string][]Entry {
	keys := map[string][]Entry{}
	for _, e := range entries {
		keys[e.Key] = append(keys[e.Key], e)
	}
	return keys
}

// Judge returns what is wrong with the requests of one key, and how many denials
// were judged. One that was decided after a failed request began is not: that may
// have been spent.
func Judge(def algo.Spec, entries []Entry, terms Terms) (problems []string, judged int) {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		// Within one instant what was denied came after what was admitted, or the
		// store is wrong in any case.
		return cmp.Or(cmp.Compare(a.Now, b.Now), cmp.Compare(a.Outcome, b.Outcome))
	})
	o := algotest.NewOracle(def)
	unsure := firstFailure(entries)
	for _, e := range entries {
		switch {
		case e.Outcome == Admitted:
			if left := o.Remaining(e.Now); terms.Lost == 0 && e.Cost > left {
				problems = append(problems, fmt.Sprintf("I1: at %d a cost of %d was admitted, %d were left", e.Now, e.Cost, left))
			}
			o.Admit(e.Now, e.Cost)
		case e.Outcome == Denied && e.Now < unsure:
			judged++
			if left := o.Remaining(deniedAt(e)); max(1, e.Cost) <= left {
				problems = append(problems, fmt.Sprintf("I2: at %d a cost of %d was denied, %d were left", e.Now, e.Cost, left))
			}
		}
	}
	if over := excess(o); over > terms.Lost {
		problems = append(problems, fmt.Sprintf("I1: some interval admitted %d more than promised, allowed are %d", over, terms.Lost))
	}
	return problems, judged
}

// deniedAt is the instant at which a denial must have been right. One that was made
// in this process was right if it was so at any time between its start and its
// end: least came back until the start, most was taken until the end.
func deniedAt(e Entry) int64 {
	if e.Local {
		return e.Start
	}
	return e.Now
}

// firstFailure is the start of the first request that failed.
func firstFailure(entries []Entry) int64 {
	first := int64(1<<63 - 1)
	for _, e := range entries {
		if e.Outcome == Failed {
			first = min(first, e.Start)
		}
	}
	return first
}

// excess is by how much the worst interval is above what the limit promises about
// intervals. Below 0 it was never exhausted.
func excess(o *algotest.Oracle) int64 {
	p := &o.Def
	switch p.Kind {
	case algo.TokenBucket:
		return ceil(o.Excess(p.Burst, 0))
	case algo.FixedWindow:
		if !p.FirstHit && p.Bounds == nil {
			return fullest(o) - p.Count
		}
	case algo.SlidingWindow:
		part := p.Period - p.Period/p.Sub
		return max(o.Peak(part)-p.Count, o.Peak(p.Period)-2*p.Count)
	case algo.WeightedWindow:
		return o.Peak(p.Period) - 2*p.Count
	case algo.SlidingLog:
		over := o.Peak(p.Windows[0].Period) - p.Windows[0].Count
		for _, w := range p.Windows[1:] {
			over = max(over, o.Peak(w.Period)-w.Count)
		}
		return over
	}
	return 0 // only the replay judges it
}

// fullest is the most that one aligned window admitted.
func fullest(o *algotest.Oracle) int64 {
	sums, most := map[int64]int64{}, int64(0)
	for _, e := range o.Log {
		window := e.At / o.Def.Period
		sums[window] += e.Cost
		most = max(most, sums[window])
	}
	return most
}

func ceil(r *big.Rat) int64 {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64()
}
