package memstore

import (
	"fmt"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// reservation is an estimate that waits to be settled.
type reservation struct {
	cost    int64
	mark    algo.Mark
	verdict algo.Verdict
	at      int64 // when it was spent, by the clock of its algorithm
	ready   int64 // until then the booking waits
	expires int64
}

// ticket names a reservation: an ID counts per key.
type ticket struct {
	id  string
	key key
}

// reservations are all that are open. Expired ones are dropped as new ones come.
type reservations struct {
	mu  sync.Mutex
	all map[ticket]reservation
}

const reservationBytes = 160 // of an entry with a short ID

func (o *reservations) init() { o.all = make(map[ticket]reservation) }

func (o *reservations) count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.all))
}

// repeated finds the parts whose reservation is open already, and makes sure
// that there is memory for the others.
func (s *Store) repeated(d *several, now int64) error {
	o := &s.open
	o.mu.Lock()
	defer o.mu.Unlock()
	s.sweepReservations(now, 2*len(d.parts))
	for i := range d.parts {
		p := &d.parts[i]
		if r, ok := o.all[ticket{p.ID, p.key}]; ok && now < r.expires {
			p.again = true
			p.Verdict = r.verdict
		}
	}
	if !s.mayGrow(int64(len(d.parts)) * reservationBytes) {
		return fmt.Errorf("memstore: %d reservations open: %w", len(o.all), store.ErrFull)
	}
	return nil
}

// sweepReservations looks at some reservations and drops those that expired.
func (s *Store) sweepReservations(now int64, some int) {
	for t, r := range s.open.all {
		if now >= r.expires {
			delete(s.open.all, t)
			s.bytes.Add(-reservationBytes)
		}
		if some--; some <= 0 {
			return
		}
	}
}

// closeReservation takes a reservation out, if it is still open.
func (s *Store) closeReservation(t ticket, now int64) (reservation, bool) {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	r, ok := s.open.all[t]
	if !ok {
		return r, false
	}
	delete(s.open.all, t)
	s.bytes.Add(-reservationBytes)
	return r, now < r.expires
}

// reserve spends and enters the reservations while all slots are held.
func (s *Store) reserve(checks []store.Check) error {
	d := several{}
	s.holdAll(&d, checks)
	now := s.clock.Now()
	if err := s.repeated(&d, now); err != nil {
		d.releaseAll(d.order)
		return err
	}
	if s.decideAll(&d, now) {
		s.openAll(&d, now)
	}
	s.writeAll(&d, now)
	return nil
}

// openAll enters the reservations of all parts.
func (s *Store) openAll(d *several, now int64) {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	for i := range d.parts {
		p := &d.parts[i]
		if p.again {
			continue
		}
		t := ticket{p.ID, p.key}
		if _, expired := s.open.all[t]; !expired {
			s.bytes.Add(reservationBytes)
		}
		s.open.all[t] = reservation{p.Cost, p.Mark, p.Verdict, s.at(p.Spec, now), now + p.Verdict.Wait, now + p.Hold}
	}
}

// closeAll drops the reservations of a key.
func (s *Store) closeAll(k key) {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	for t := range s.open.all {
		if t.key == k {
			delete(s.open.all, t)
			s.bytes.Add(-reservationBytes)
		}
	}
}
