package httplimit

import (
	"sync"
	"sync/atomic"
)

// waiters counts the requests that wait, so that neither all of them nor those of one
// key are too many: a client that fills its share leaves room for the others.
type waiters struct {
	most  int64
	share int64 // of most, that one key can have
	total atomic.Int64
	mu    sync.Mutex
	ofKey map[string]crowd // guarded by mu
}

// crowd is who waits for one key.
type crowd struct {
	requests int64
	queued   int64 // their cost, of those who stand in a queue
}

func newWaiters(most int64) waiters {
	return waiters{most: most, share: max(1, most/4), ofKey: map[string]crowd{}}
}

// join lets one more wait. If that is in the queue of a key, not more than perKey may
// stand there.
func (w *waiters) join(key string, cost, perKey int64, queues bool) bool {
	if w.total.Add(1) > w.most {
		w.total.Add(-1)
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.ofKey[key]
	if c.requests >= w.share || queues && c.queued > perKey-cost {
		w.total.Add(-1)
		return false
	}
	if c.requests++; queues {
		c.queued += cost
	}
	w.ofKey[key] = c
	return true
}

// part is for those that join has let wait.
func (w *waiters) part(key string, cost int64, queues bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total.Add(-1)
	c := w.ofKey[key]
	if c.requests--; c.requests == 0 {
		delete(w.ofKey, key)
		return
	}
	if queues {
		c.queued -= cost
	}
	w.ofKey[key] = c
}

// queue reports whether somebody stands in the queue of a key.
func (w *waiters) queue(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ofKey[key].queued > 0
}
