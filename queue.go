package sluice

import (
	"context"
	"sync"
)

// queues are those of the keys that somebody waits for.
type queues struct {
	remote bool

	mu  sync.Mutex
	all map[string]*keyQueue
}

type keyQueue struct {
	queue
	users int
}

// busy reports whether somebody waits for key.
func (q *queues) busy(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[key] != nil
}

func (q *queues) join(key string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = make(map[string]*keyQueue)
	}
	if q.all[key] == nil {
		q.all[key] = &keyQueue{queue: queue{remote: q.remote}}
	}
	q.all[key].users++
	return &q.all[key].queue
}

func (q *queues) part(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all[key].users--; q.all[key].users == 0 {
		delete(q.all, key)
	}
}

// queue lets in one after the other, first come first served. Its zero value is
// ready to use.
//
// One at a time is right while the limit is used up. When it is not any more, and
// every question is a journey to a store, those who wait would hold up each other
// and all who come. So a remote queue lets in twice as many whenever one is admitted
// that had not been denied, and one again after a denial.
type queue struct {
	remote bool

	mu      sync.Mutex
	inside  int
	more    int // how many may be inside besides the first
	waiting []chan struct{}
}

// widest is how many may ask at the same time at most.
const widest = 1 << 16

// busy reports whether somebody is inside, and so perhaps others wait.
func (q *queue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inside > 0
}

// enter returns when it is the caller's turn. It tells whether that took time.
func (q *queue) enter(ctx context.Context) (waited bool, err error) {
	q.mu.Lock()
	if q.inside <= q.more && len(q.waiting) == 0 {
		q.inside++
		q.mu.Unlock()
		return false, nil
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return true, nil
	case <-ctx.Done():
		q.abandon(turn)
		return true, ctx.Err()
	}
}

// abandon leaves the queue. If the turn had just come, the next one gets it.
func (q *queue) abandon(turn chan struct{}) {
	q.mu.Lock()
	for i, w := range q.waiting {
		if w == turn {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.mu.Unlock()
			return
		}
	}
	q.mu.Unlock()
	q.leave()
}

// leave gives the turn to the next.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inside--
	q.admit()
}

// admit lets in as many as may be inside; q.mu is held.
func (q *queue) admit() {
	for len(q.waiting) > 0 && q.inside <= q.more {
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		q.inside++
	}
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
}

// widen is for one inside that was admitted without a denial: there is enough.
func (q *queue) widen() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.remote {
		q.more = min(2*q.more+1, widest)
		q.admit()
	}
}

// narrow is for one inside that was denied: there is not enough.
func (q *queue) narrow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.more = 0
}
