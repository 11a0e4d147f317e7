// Package oracle judges what a limiter did from a log that the limiter did not
// write: what every caller asked, when, and what it was told.
//
// It checks three promises. I1, safety: no interval admits more than the limit
// says. I2, no false denial: what was denied would have been too much. I3,
// conservation: every request gets exactly one answer, and what was spent is what
// was admitted. The arithmetic is that of algotest.Oracle, which knows definitions
// and no state.
package oracle

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Outcome is what a caller was told.
type Outcome uint8

const (
	Admitted Outcome = iota
	Denied
	Failed // an error: it may have been spent or not
)

// Entry is one request.
type Entry struct {
	Start, End int64 // µs by the clock of the log
	Now        int64 // µs by the clock of the store: when it decided; 0 if it failed
	Key        string
	Cost       int64
	Outcome    Outcome
	Local      bool  // decided in this process, some time between Start and End; Now is End
	Degraded   bool  // decided without the store that should have
	Err        error // if it failed
}

// Log collects the requests of many callers.
type Log struct {
	begun atomic.Int64

	mu      sync.Mutex // guards the rest
	entries []Entry
	counts  [Failed + 1]int // by outcome
}

// Spend asks a store for the cost of one key, and notes question and answer.
func (l *Log) Spend(ctx context.Context, s store.Store, key string, p *algo.Spec, cost int64) Entry {
	l.begun.Add(1)
	e := Entry{Start: time.Now().UnixMicro(), Key: key, Cost: cost}
	check := []store.Check{{Key: key, Spec: p, Cost: cost}}
	e.Err = s.Take(ctx, store.Spend, check)
	e.End, e.Now, e.Degraded = time.Now().UnixMicro(), check[0].Now, check[0].Degraded
	if e.Now == 0 {
		e.Now, e.Local = e.End, true
	}
	switch {
	case e.Err != nil:
		e.Outcome, e.Now, e.Local = Failed, 0, false
	case !check[0].Verdict.Allowed:
		e.Outcome = Denied
	}
	l.add(e)
	return e
}

func (l *Log) add(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	l.counts[e.Outcome]++
}

// Entries returns a copy of the log.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries...)
}

// Count returns how many requests of the log had the outcome.
func (l *Log) Count(o Outcome) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[o]
}

// Cost returns the cost of all requests of a key with the outcome.
func (l *Log) Cost(key string, o Outcome) int64 {
	sum := int64(0)
	for _, e := range l.Entries() {
		if e.Key == key && e.Outcome == o {
			sum += e.Cost
		}
	}
	return sum
}
