package memstore

import (
	"fmt"
	"maps"
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
	line    *line // of its state, nil if that has none
	shift   int64 // that of the line when this one entered it
}

// ticket names a reservation: an ID counts per key.
type ticket struct {
	id  string
	key key
}

// reservations are all that are open. Expired ones are dropped as new ones come.
type reservations struct {
	mu    sync.Mutex // guards the rest; taken while slots are held
	all   map[ticket]reservation
	lines map[key]*line
	most  int // how many there were since the maps were made
}

// bytes returns what a reservation takes in a map that has just grown.
func (t ticket) bytes() int64 { return 360 + int64(len(t.id)) }

func (p *part) ticket() ticket { return ticket{p.ID, p.key} }

func (o *reservations) init() {
	o.all, o.lines = make(map[ticket]reservation), make(map[key]*line)
}

func (o *reservations) count() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.all))
}

// reserve spends and enters the reservations while all slots are held.
func (s *Store) reserve(checks []store.Check) error {
	d := newSeveral(store.Reserve)
	defer d.done()
	s.holdAll(d, checks)
	now := s.clock.Now()
	if err := s.repeated(d, now); err != nil {
		d.releaseAll(d.order)
		return err
	}
	if s.decideAll(d, now) {
		s.openAll(d, now)
	}
	s.writeAll(d, now)
	return nil
}

// repeated finds the parts whose reservation is open already, and makes sure
// that there is memory for the others.
func (s *Store) repeated(d *several, now int64) error {
	o := &s.open
	o.mu.Lock()
	defer o.mu.Unlock()
	s.sweepReservations(now, 2*len(d.parts))
	need := int64(0)
	for i := range d.parts {
		p := &d.parts[i]
		if r, ok := o.all[p.ticket()]; ok && now < r.expires {
			p.again = true
			p.Verdict = r.verdict
		} else {
			need += p.ticket().bytes() + o.lineOf(p)
		}
	}
	if need == 0 || s.roomBeside(need) {
		return nil
	}
	if s.sweepReservations(now, 64); s.roomBeside(need) {
		return nil
	}
	return fmt.Errorf("memstore: %d reservations open: %w", len(o.all), store.ErrFull)
}

// openAll enters the reservations of all parts that were spent.
func (s *Store) openAll(d *several, now int64) {
	o := &s.open
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range d.parts {
		p := &d.parts[i]
		if p.again || !p.Verdict.Allowed {
			continue
		}
		t := p.ticket()
		s.closeTicket(t) // an expired one
		s.beside.Add(t.bytes())
		ln, shift := s.enter(p)
		o.all[t] = reservation{
			p.Cost, p.Mark, p.Verdict, s.at(p.Spec, now), now + p.Verdict.Wait, now + p.Hold, ln, shift,
		}
	}
	o.most = max(o.most, len(o.all))
}

// owes reports whether a part that commits has an open reservation and took more
// than that.
func (s *Store) owes(p *part) bool {
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	r, ok := s.open.all[p.ticket()]
	return ok && r.cost < p.Cost
}

// closeAll takes out the reservations that are committed, or all of the keys that
// are reset. It fails before it has changed anything if a key has got a slot, or
// owes something that needs one, since all were held.
func (s *Store) closeAll(d *several, now int64) bool {
	o := &s.open
	o.mu.Lock()
	defer o.mu.Unlock()
	if !s.stillAbsent(d) {
		return false
	}
	for i := range d.parts {
		p := &d.parts[i]
		p.booked = nil
		if r, ok := o.all[p.ticket()]; ok && now < r.expires && d.op == store.Commit {
			p.booked = &r
			if first := &d.parts[p.first]; r.cost < p.Cost && first.none && !stateless(p.Spec) {
				return false
			}
		}
	}
	for i := range d.parts {
		p := &d.parts[i]
		if d.op == store.Reset {
			s.closeKey(p.key)
		} else if !s.closeTicket(p.ticket()) {
			p.booked = nil // the same one a second time
		}
	}
	return true
}

// closeKey drops the reservations of a key.
func (s *Store) closeKey(k key) {
	for t := range s.open.all {
		if t.key == k {
			s.closeTicket(t)
		}
	}
}

// closeTicket drops a reservation and reports whether there was one.
func (s *Store) closeTicket(t ticket) bool {
	r, ok := s.open.all[t]
	if !ok {
		return false
	}
	delete(s.open.all, t)
	s.leaveLine(t.key, r.line)
	s.beside.Add(-t.bytes())
	return true
}

// sweepReservations looks at some reservations and drops those that expired. A
// map that has become far too large for what is in it is made anew: it gives
// nothing back by itself, and to look at some would be to look through all of it.
func (s *Store) sweepReservations(now int64, some int) {
	o := &s.open
	for t, r := range o.all {
		if now >= r.expires {
			s.closeTicket(t)
		}
		if some--; some <= 0 {
			break
		}
	}
	if o.most > 1024 && len(o.all) < o.most/8 {
		few, lines := make(map[ticket]reservation, len(o.all)), make(map[key]*line, len(o.lines))
		maps.Copy(few, o.all)
		maps.Copy(lines, o.lines)
		o.all, o.lines, o.most = few, lines, len(few)
	}
}
