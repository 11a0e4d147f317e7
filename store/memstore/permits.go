package memstore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// permits are those of all concurrency limits. They are few and short-lived
// beside the keys of other limits, so one lock is enough.
type permits struct {
	mu  sync.Mutex // guards the rest
	all map[key]algo.Permits
}

// permitBytes is what a permit takes, besides its owner's name.
const permitBytes = 160

// changePermits carries out an operation on permits, for all checks at one
// instant.
func (s *Store) changePermits(op store.Op, checks []store.Check) error {
	s.permits.mu.Lock()
	defer s.permits.mu.Unlock()
	now := s.clock.Now()
	s.sweepPermits(now, 2*len(checks))
	if op == store.Acquire {
		return s.acquire(checks, now)
	}
	for i := range checks {
		c := &checks[i]
		k := s.hash.key(c.Key, c.Spec.Shape())
		p := s.permitsOf(k)
		if op == store.Renew {
			c.Verdict = algo.Verdict{Allowed: c.Spec.Renew(&p, now, c.ID, c.Hold)}
		} else {
			c.Verdict = algo.Verdict{Allowed: c.Spec.Release(&p, now, c.ID)}
		}
		s.putPermits(k, p)
	}
	return nil
}

// resetPermits forgets who is in flight.
func (s *Store) resetPermits(checks []store.Check) {
	for i := range checks {
		if c := &checks[i]; c.Spec.Kind == algo.Concurrency {
			s.permits.mu.Lock()
			s.putPermits(s.hash.key(c.Key, c.Spec.Shape()), algo.Permits{})
			s.permits.mu.Unlock()
		}
	}
}

// acquire takes the permits of all checks, or of none.
func (s *Store) acquire(checks []store.Check, now int64) error {
	drafts, allowed, need := make(map[key]algo.Permits, len(checks)), true, int64(0)
	for i := range checks {
		c := &checks[i]
		k := s.hash.key(c.Key, c.Spec.Shape())
		p, ok := drafts[k]
		if !ok {
			p = s.permitsOf(k)
		}
		c.Now, c.Verdict = now, c.Spec.Acquire(&p, now, c.ID, c.Cost, c.Hold)
		allowed = allowed && c.Verdict.Allowed
		need += permitBytes + int64(len(c.ID))
		drafts[k] = p
	}
	if !allowed {
		return nil
	}
	if !s.roomBeside(need) {
		return fmt.Errorf("memstore: permits of %d keys are held: %w", len(s.permits.all), store.ErrFull)
	}
	for k, p := range drafts {
		s.putPermits(k, p)
	}
	return nil
}

// permitsOf returns a copy of the permits of a key.
func (s *Store) permitsOf(k key) algo.Permits {
	p := s.permits.all[k]
	p.Held = slices.Clone(p.Held)
	return p
}

// putPermits writes the permits of a key, or forgets it if it has none.
func (s *Store) putPermits(k key, p algo.Permits) {
	s.beside.Add(bytesOf(p) - bytesOf(s.permits.all[k]))
	if len(p.Held) == 0 {
		delete(s.permits.all, k)
		return
	}
	s.permits.all[k] = p
}

func bytesOf(p algo.Permits) (n int64) {
	for _, h := range p.Held {
		n += permitBytes + int64(len(h.Owner))
	}
	return n
}

// sweepPermits looks at some keys and forgets those whose permits have all expired.
func (s *Store) sweepPermits(now int64, some int) {
	for k, p := range s.permits.all {
		if p.Last <= now {
			s.putPermits(k, algo.Permits{})
		}
		if some--; some <= 0 {
			return
		}
	}
}
