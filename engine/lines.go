package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lines are the queues of those who wait for limits that do not book the future: one
// for each key that somebody waits for.
type lines struct {
	mu  sync.Mutex // guards the rest, and all lines
	all map[string]*line
}

// line lets one after the other ask, first come first served.
type line struct {
	waiting []chan struct{} // those behind the one whose turn it is
}

// busy reports whether it is somebody's turn.
func (l *lines) busy(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[key] != nil
}

// enter returns true when it is the caller's turn, or false if patience or the
// context ends first.
func (l *lines) enter(ctx context.Context, key string, patience time.Duration) bool {
	l.mu.Lock()
	q := l.all[key]
	if q == nil {
		if l.all == nil {
			l.all = make(map[string]*line)
		}
		l.all[key] = new(line)
		l.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	l.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-turn:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	l.abandon(key, turn)
	return false
}

// abandon leaves a line. If the turn had just come, the next one gets it.
func (l *lines) abandon(key string, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.all[key]
	if i := slices.Index(q.waiting, turn); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	l.next(key)
}

// leave gives the turn to the next.
func (l *lines) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next(key)
}

func (l *lines) next(key string) {
	q := l.all[key]
	if len(q.waiting) == 0 {
		delete(l.all, key)
		return
	}
	close(q.waiting[0])
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
}
