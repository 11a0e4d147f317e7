package engine

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

// keeper renews the permits of remote stores: one goroutine for all, which is there
// while somebody holds any.
type keeper struct {
	engine *Engine

	mu      sync.Mutex // guards the rest, and what stays say
	held    list.List  // of *held, by when they are due
	running bool
	closed  bool
	stop    chan struct{} // closed with the engine; nil until something runs
	work    sync.WaitGroup
}

// stay is where a request stands with the keeper.
type stay struct {
	place *list.Element // nil while it is renewed, and when it is over
	due   int64         // when it is to be renewed, µs by the engine's real clock
	over  bool          // it has left
}

const (
	renewEvery = permitLife / 5 // so that it may fail three times
	renewTime  = permitLife / 9 // how long we try
	renewMost  = 64             // checks in a call
)

// add lets permits be renewed from now on.
func (k *keeper) add(h *held) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(h)
	if k.running || k.closed {
		return
	}
	if k.stop == nil {
		k.stop = make(chan struct{})
	}
	k.running = true
	k.work.Add(1)
	go k.run()
}

// put notes when permits are due: after all others. k.mu is held.
func (k *keeper) put(h *held) {
	h.stay.due = k.engine.real.Now() + renewEvery.Microseconds()
	h.stay.place = k.held.PushBack(h)
}

// remove ends the renewal. It reports false if that is just under way: then the keeper
// gives the permits back.
func (k *keeper) remove(h *held) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.stay.over = true
	if h.stay.place == nil {
		return false
	}
	k.held.Remove(h.stay.place)
	return true
}

// run renews what is due until nobody holds anything.
func (k *keeper) run() {
	defer k.work.Done()
	timer := time.NewTimer(renewEvery)
	defer timer.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-timer.C:
		}
		some, next, more := k.due()
		if !more {
			return
		}
		k.renew(some)
		k.back(some)
		timer.Reset(next)
	}
}

// due takes those who have to be renewed, as many as fit into a call, and tells when to
// look again; more is false if nobody holds anything.
func (k *keeper) due() (some []*held, next time.Duration, more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held.Len() == 0 {
		k.running = false
		return nil, 0, false
	}
	now := k.engine.real.Now()
	for checks := 0; checks < renewMost; {
		first := k.held.Front()
		if first == nil {
			return some, renewEvery, true
		}
		h := first.Value.(*held)
		if h.stay.due > now {
			return some, time.Duration(h.stay.due-now) * time.Microsecond, true
		}
		k.held.Remove(first)
		h.stay.place = nil
		some, checks = append(some, h), checks+len(h.cluster().checks)
	}
	return some, 0, true
}

// back puts those who were renewed in their place again, and gives back what those held
// who left meanwhile.
func (k *keeper) back(some []*held) {
	var over []*held
	k.mu.Lock()
	for _, h := range some {
		if h.stay.over {
			over = append(over, h)
		} else {
			k.put(h)
		}
	}
	k.mu.Unlock()
	for _, h := range over {
		k.engine.release(context.Background(), h.cluster(), clusterPermits)
	}
}

// renew lets permits live for another while. What the store does not know any more is
// taken again, if it is free: the request runs in any case.
func (k *keeper) renew(some []*held) {
	if len(some) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), renewTime)
	defer cancel()
	var all taken
	for _, h := range some {
		all.checks = append(all.checks, h.cluster().checks...)
		all.policies = append(all.policies, h.cluster().policies...)
	}
	if err := k.engine.places.take(ctx, clusterPermits, store.Renew, all.checks, all.policies); err != nil {
		k.engine.warn(renewalFailed, "sluice: permits could not be renewed", "error", err)
		return
	}
	for i := range all.checks {
		if !all.checks[i].Verdict.Allowed {
			_ = k.engine.places.take(ctx, clusterPermits, store.Acquire, all.checks[i:i+1], all.policies[i:i+1])
		}
	}
}

// close ends the renewal of everything.
func (k *keeper) close() {
	k.mu.Lock()
	if !k.closed && k.stop != nil {
		close(k.stop)
	}
	k.closed = true
	k.mu.Unlock()
	k.work.Wait()
}
