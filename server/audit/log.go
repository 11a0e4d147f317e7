package audit

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-limiter/sluice"
)

// Size is how many entries a Log remembers: so many about rules, and so many about budgets.
const Size = 1000

// backlog is how many entries a subscriber may be behind before it misses some.
const backlog = 64

// Log remembers the last entries, writes them to a file if it has one, and tells
// subscribers. It is safe for concurrent use.
type Log struct {
	logger *slog.Logger
	path   string // of the file; empty means none
	pace   *sluice.Limiter
	left   atomic.Int64 // entries about budgets that were too many

	mu             sync.Mutex // guards all below, and the order of lines in the file
	rules, budgets ring
	subs           map[chan Entry]struct{}
	closed         bool
}

// Open returns a log. If path is not empty, entries are also appended to that file as
// lines of JSON; Open makes it if it is not there, and fails if it cannot be written.
// What cannot be written later is reported to logger and still remembered.
func Open(path string, logger *slog.Logger) (*Log, error) {
	l := &Log{logger: logger, path: path, pace: sluice.NewLimiter(pace), subs: map[chan Entry]struct{}{}}
	if path != "" {
		if err := l.append(nil); err != nil {
			return nil, fmt.Errorf("audit file: %w", err)
		}
	}
	return l, nil
}

// Add writes an entry to the file, remembers it, and tells subscribers. It never waits
// for one of them.
func (l *Log) Add(e Entry) { l.add(&l.rules, e) }

func (l *Log) add(to *ring, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path != "" {
		line, err := json.Marshal(e)
		if err == nil {
			err = l.append(append(line, '\n'))
		}
		if err != nil {
			l.logger.Error("audit entry could not be written", "file", l.path, "error", err)
		}
	}
	to.add(e)
	for c := range l.subs {
		select {
		case c <- e:
		default: // it is too slow, and misses this one
		}
	}
}

// append opens the file for every line: changes are rare, and who rotates the file
// need not tell us.
func (l *Log) append(line []byte) error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err == nil && len(line) > 0 {
		err = f.Sync()
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	return err
}

// Last returns the last n entries, newest first; all that are known if n is 0 or less.
func (l *Log) Last(n int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all := len(l.rules.entries) + len(l.budgets.entries); n <= 0 || n > all {
		n = all
	}
	last := make([]Entry, 0, n)
	for i, j := 0, 0; i+j < n; {
		e, ok := l.rules.back(i)
		if other, there := l.budgets.back(j); !ok || there && other.Time.After(e.Time) {
			e = other
			j++
		} else {
			i++
		}
		last = append(last, *e)
		last[len(last)-1].Lines = slices.Clone(e.Lines)
	}
	return last
}

// Subscribe returns entries as they are added, until the function is called or the
// log is closed: then the channel is closed. Who reads too slowly misses entries.
func (l *Log) Subscribe() (<-chan Entry, func()) {
	c := make(chan Entry, backlog)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		close(c)
		return c, func() {}
	}
	l.subs[c] = struct{}{}
	return c, func() { l.leave(c) }
}

func (l *Log) leave(c chan Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, in := l.subs[c]; in {
		delete(l.subs, c)
		close(c)
	}
}

// Close ends all subscriptions. Entries can still be added and read.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.subs {
		delete(l.subs, c)
		close(c)
	}
}
