package httplimit

import (
	"sync"
	"sync/atomic"
)

// waiters counts the requests that wait, so that neither all of them nor those of one
// key are too many.
type waiters struct {
	most   int64
	total  atomic.Int64
	mu     sync.Mutex
	queued map[string]int64 // guarded by mu; the cost that waits in the queue of a key
}

func newWaiters(most int64) waiters { return waiters{most: most, queued: map[string]int64{}} }

// join lets one more wait. If that is in the queue of a key, not more than perKey may
// stand there.
func (w *waiters) join(key string, cost, perKey int64, queues bool) bool {
	if w.total.Add(1) > w.most {
		w.total.Add(-1)
		return false
	}
	if !queues {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued[key] > perKey-cost {
		w.total.Add(-1)
		return false
	}
	w.queued[key] += cost
	return true
}

// part is for those that join has let wait.
func (w *waiters) part(key string, cost int64, queues bool) {
	w.total.Add(-1)
	if !queues {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued[key] -= cost; w.queued[key] <= 0 {
		delete(w.queued, key)
	}
}

// queue reports whether somebody stands in the queue of a key.
func (w *waiters) queue(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queued[key] > 0
}
