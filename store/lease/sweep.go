package lease

import (
	"context"
	"fmt"

	"github.com/sluice-limiter/sluice/store"
)

// watch has the sweeper look after the lots of an entry, which is locked.
// Nothing depends on that but what others may use: tokens that the sweeper does
// not give back in time die at their deadline all the same.
func (s *Store) watch(e *entry) {
	if e.listed || e.core.idle() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return // Close looks after them
	}
	e.listed = true
	s.leased = append(s.leased, e)
	if !s.sweeping {
		s.sweeping = true
		s.tasks.Go(s.sweep)
	}
}

// sweep gives unused tokens back as long as there are leases.
func (s *Store) sweep() {
	for more := true; more; more = s.sweepOnce() {
		s.sleep(s.tick())
	}
}

// tick is the time between two sweeps. Tokens are given back that long before
// their deadline, so that none lies unused for longer than the age of a lease.
func (s *Store) tick() int64 { return s.rules.age / 4 }

func (s *Store) sweepOnce() (more bool) {
	s.mu.Lock()
	watched := s.leased
	s.leased = nil
	s.mu.Unlock()

	var returns []store.Check
	still := watched[:0]
	for _, e := range watched {
		e.mu.Lock()
		returns = e.collect(returns, e.core.expire(s.clock.Now(), s.tick()))
		if e.listed = !e.core.idle(); e.listed {
			still = append(still, e)
		}
		e.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	if err := s.giveBack(ctx, returns); err != nil {
		s.warn("lease: unused tokens are lost", err)
	}
	cancel()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.leased = append(s.leased, still...)
	s.sweeping = len(s.leased) > 0 && !s.closed.Load()
	return s.sweeping
}

// Close gives back what can be given back, and ends all goroutines of the store.
// Whoever waits for tokens is sent to the inner store, as is everything that
// comes later. If ctx ends first, calls under way are cut off.
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	first := s.closed.CompareAndSwap(false, true)
	if first {
		close(s.done)
	}
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		s.tasks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	s.cancel()
	<-ended
	var returns []store.Check
	for i := range s.table.slots {
		if e := s.table.slots[i].Load(); e != nil {
			e.mu.Lock()
			e.core.drop(true)
			returns = e.collect(returns, e.core.leftovers())
			e.mu.Unlock()
		}
	}
	if err := s.giveBack(ctx, returns); err != nil {
		return fmt.Errorf("lease: unused tokens are lost: %w", err)
	}
	return nil
}
