package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lines are the queues of those who wait for limits that do not book the future: one
// for each key that somebody waits for.
type lines struct {
	remote bool        // every question is a journey
	some   atomic.Bool // there are any
	mu     sync.Mutex  // guards the rest, and all lines
	all    map[string]*line
}

// line lets one after the other ask, first come first served.
//
// One at a time is right while the limit is used up. When it is not any more, and
// every question is a journey to a store, those who stand in the line would hold up
// each other. So a remote one lets twice as many ask whenever one is admitted that had
// not been denied, and one again after a denial.
type line struct {
	cost    int64 // of all who stand in it, those whose turn it is included
	asking  int   // how many those are
	more    int   // how many there may be besides the first
	waiting []chan struct{}
}

// widest is how many may ask at the same time at most.
const widest = 1 << 16

// place is one in a line.
type place struct {
	key      string
	cost     int64
	most     int64         // what the limit can admit within patience
	patience time.Duration // for how long one may stand there
}

// turn is what became of a place in a line.
type turn uint8

const (
	atOnce  turn = iota // it is one's turn, without waiting
	inTurn              // it is one's turn, after others
	tooLong             // the line is: one's turn would not come in time
	tooLate             // one's turn has not come in time
)

// busy reports whether it is somebody's turn.
func (l *lines) busy(key string) bool {
	if !l.some.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[key] != nil
}

// full reports whether so many stand in the line that one more would do so in vain.
func (l *lines) full(p *place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[p.key].full(p)
}

func (q *line) full(p *place) bool { return q != nil && q.cost > p.most-p.cost }

// enter returns when it is the caller's turn, or will not be in time.
func (l *lines) enter(ctx context.Context, p *place) turn {
	l.mu.Lock()
	q := l.all[p.key]
	switch {
	case q == nil:
		l.begin(p)
		l.mu.Unlock()
		return atOnce
	case q.full(p):
		l.mu.Unlock()
		return tooLong
	case q.asking <= q.more && len(q.waiting) == 0:
		q.asking, q.cost = q.asking+1, q.cost+p.cost
		l.mu.Unlock()
		return atOnce
	}
	turn := make(chan struct{})
	q.waiting, q.cost = append(q.waiting, turn), q.cost+p.cost
	l.mu.Unlock()
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-turn:
		return inTurn
	case <-timer.C:
	case <-ctx.Done():
	}
	l.abandon(p, turn)
	return tooLate
}

// begin opens a line with its first; l.mu is held.
func (l *lines) begin(p *place) {
	if l.all == nil {
		l.all = make(map[string]*line)
	}
	l.all[p.key] = &line{cost: p.cost, asking: 1}
	l.some.Store(true)
}

// abandon leaves a line. If the turn had just come, the next one gets it.
func (l *lines) abandon(p *place, turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.all[p.key]
	if i := slices.Index(q.waiting, turn); i >= 0 {
		q.waiting, q.cost = slices.Delete(q.waiting, i, i+1), q.cost-p.cost
		return
	}
	l.next(p)
}

// leave gives the turn to the next.
func (l *lines) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next(p)
}

func (l *lines) next(p *place) {
	q := l.all[p.key]
	q.asking, q.cost = q.asking-1, q.cost-p.cost
	if q.admit(); q.asking == 0 {
		delete(l.all, p.key)
		l.some.Store(len(l.all) > 0)
	}
}

// admit lets as many ask as may.
func (q *line) admit() {
	for len(q.waiting) > 0 && q.asking <= q.more {
		close(q.waiting[0])
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.asking++
	}
}

// widen is for one who was admitted without a denial: there is enough.
func (l *lines) widen(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.all[p.key]; l.remote {
		q.more = min(2*q.more+1, widest)
		q.admit()
	}
}

// narrow is for one who was denied: there is not enough.
func (l *lines) narrow(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[p.key].more = 0
}
