package memstore

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// permits are those of all concurrency limits. They are few and short-lived
// beside the keys of other limits, so one lock is enough.
type permits struct {
	mu   sync.Mutex // guards the rest
	all  map[key]*algo.Permits
	most int // how many there were since the map was made
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
		p, had := s.permitsOf(k)
		if op == store.Renew {
			c.Verdict = algo.Verdict{Allowed: c.Spec.Renew(p, now, c.ID, c.Hold)}
		} else {
			c.Verdict = algo.Verdict{Allowed: c.Spec.Release(p, now, c.ID)}
		}
		s.putPermits(k, p, had)
	}
	return nil
}

// resetPermits forgets who is in flight.
func (s *Store) resetPermits(checks []store.Check) {
	for i := range checks {
		if c := &checks[i]; c.Spec.Kind == algo.Concurrency {
			k := s.hash.key(c.Key, c.Spec.Shape())
			s.permits.mu.Lock()
			_, had := s.permitsOf(k)
			s.putPermits(k, &algo.Permits{}, had)
			s.permits.mu.Unlock()
		}
	}
}

// acquire takes the permits of all checks, or of none; of shadows, those that are
// allowed. What has expired is dropped whatever the answer is. A check that stands alone needs no draft: what is denied
// changes nothing else.
func (s *Store) acquire(checks []store.Check, now int64) error {
	drafts, need := make([]*algo.Permits, len(checks)), int64(0)
	for i := range checks {
		if c := &checks[i]; c.Cost > 0 {
			need += permitBytes + int64(len(c.ID))
		}
	}
	if need > 0 && !s.roomBeside(need) {
		return fmt.Errorf("memstore: permits of %d keys are held: %w", len(s.permits.all), store.ErrFull)
	}
	allowed := true
	for i := range checks {
		c := &checks[i]
		k := s.hash.key(c.Key, c.Spec.Shape())
		p, had := s.permitsOf(k)
		if len(checks) > 1 {
			p.Sweep(now)
			s.putPermits(k, p, had)
			p = draftOf(checks[:i], drafts, c, p)
		}
		drafts[i] = p
		c.Now, c.Verdict = now, c.Spec.Acquire(p, now, c.ID, c.Cost, c.Hold)
		if allowed = allowed && !c.Refuses(); len(checks) == 1 {
			s.putPermits(k, p, had)
		}
	}
	for i := range checks {
		if c := &checks[i]; allowed && len(checks) > 1 {
			k := s.hash.key(c.Key, c.Spec.Shape())
			_, had := s.permitsOf(k)
			s.putPermits(k, drafts[i], had)
		}
	}
	return nil
}

// draftOf returns a copy of p, or the one that a check before c of the same key has
// made.
func draftOf(before []store.Check, drafts []*algo.Permits, c *store.Check, p *algo.Permits) *algo.Permits {
	for i := range before {
		if b := &before[i]; b.Key == c.Key && b.Spec.Shape() == c.Spec.Shape() {
			return drafts[i]
		}
	}
	draft := *p
	draft.Held = slices.Clone(p.Held)
	return &draft
}

// permitsOf returns the permits of a key, and the memory that they take.
func (s *Store) permitsOf(k key) (p *algo.Permits, bytes int64) {
	if p = s.permits.all[k]; p == nil {
		return &algo.Permits{}, 0
	}
	return p, bytesOf(p)
}

// putPermits writes the permits of a key, which took that much memory before, or
// forgets it if it has none.
func (s *Store) putPermits(k key, p *algo.Permits, had int64) {
	s.beside.Add(bytesOf(p) - had)
	if len(p.Held) == 0 {
		delete(s.permits.all, k)
		return
	}
	s.permits.all[k] = p
	s.permits.most = max(s.permits.most, len(s.permits.all))
}

func bytesOf(p *algo.Permits) (n int64) {
	for _, h := range p.Held {
		n += permitBytes + int64(len(h.Owner))
	}
	return n
}

// sweepPermits looks at some keys and forgets those whose permits have all expired. A
// map that has become far too large for what is in it is made anew: to look at some
// would be to look through all of it.
func (s *Store) sweepPermits(now int64, some int) {
	for k, p := range s.permits.all {
		if p.Last <= now {
			s.putPermits(k, &algo.Permits{}, bytesOf(p))
		}
		if some--; some <= 0 {
			break
		}
	}
	if o := &s.permits; o.most > 1024 && len(o.all) < o.most/8 {
		few := make(map[key]*algo.Permits, len(o.all))
		maps.Copy(few, o.all)
		o.all, o.most = few, len(few)
	}
}
