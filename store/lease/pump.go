package lease

import (
	"context"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

const (
	maxPumps = 256         // refills under way at once; who comes then goes to the store himself
	timeout  = time.Second // of a call in the background
)

// wake fetches tokens for a key in the background, if it needs any.
func (s *Store) wake(e *entry) {
	e.mu.Lock()
	if e.needs(s.clock.Now()) {
		s.pump(e)
	}
	e.mu.Unlock()
}

// pump starts to fetch tokens, unless that is under way; the entry is locked. It
// reports whether tokens will come.
func (s *Store) pump(e *entry) bool {
	if e.pumping {
		return true
	}
	if s.pumps.Add(1) > maxPumps || !s.start(func() { s.run(e) }) {
		s.pumps.Add(-1)
		return false
	}
	e.pumping = true
	return true
}

// start runs a task in the background, unless the store is closed.
func (s *Store) start(task func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return false
	}
	s.tasks.Go(task)
	return true
}

// run fetches tokens until nobody needs any.
func (s *Store) run(e *entry) {
	defer s.pumps.Add(-1)
	check := make([]store.Check, 1)
	for s.round(e, check) {
	}
}

// round makes one request for tokens and gives them out.
func (s *Store) round(e *entry, check []store.Check) (again bool) {
	e.mu.Lock()
	now := s.clock.Now()
	if s.closed.Load() || !e.needs(now) {
		e.flush(reply{how: direct})
		e.pumping = false
		e.mu.Unlock()
		return false
	}
	if rest := e.core.rest - now; rest > 0 {
		e.core.rest = 0
		e.mu.Unlock()
		s.sleep(rest)
		return true
	}
	r := e.ask(now)
	check[0] = store.Check{Key: e.key, Spec: e.core.plan.spec, Cost: r.cost, Want: r.want}
	e.mu.Unlock()

	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	err := s.inner.Take(ctx, store.Lease, check)
	cancel()

	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		s.receive(e, r, &check[0])
	case s.closed.Load(): // which may have cut it off
		e.core.fail(s.clock.Now())
	default:
		if len(e.queue) == 0 {
			s.warn("lease: refill failed", err)
		}
		e.core.fail(s.clock.Now())
		e.flush(reply{how: failed, err: err})
	}
	return true
}

// receive gives out what the store granted. The entry is locked.
func (s *Store) receive(e *entry, r request, c *store.Check) {
	now := s.clock.Now()
	fresh := r.era == e.core.era
	l := e.core.answer(now, r, grant{c.Granted, c.Verdict, c.Now, c.Mark})
	s.watch(e)
	switch {
	case !fresh: // asked before the lease was dropped; those who wait ask again
		return
	case now < e.core.off: // too slow for leases
		e.flush(reply{how: direct})
		return
	case l == nil && c.Granted > 0: // the window turned meanwhile
		return
	}
	e.resolve(now, r, c.Verdict)
	p := e.core.plan
	if d, known := p.denial(r, c.Verdict, 1); known && p.spec.RetryAfter(d.verdict) > p.pause {
		e.dry.Store(r.sent + p.spec.RetryAfter(d.verdict))
	}
}

// sleep waits for µs, or until the store is closed.
func (s *Store) sleep(µs int64) {
	t := time.NewTimer(time.Duration(µs) * time.Microsecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.done:
	}
}

// warn logs, at most once a second.
func (s *Store) warn(what string, err error) {
	now, last := s.clock.Now(), s.warned.Load()
	if s.logger != nil && now-last >= 1e6 && s.warned.CompareAndSwap(last, now) {
		s.logger.Warn(what, "error", err)
	}
}
