package memstore

import "github.com/sluice-limiter/sluice/algo"

// line is what the open reservations of one state have in common: the sum of all
// that was given back to a bucket while there were any, which has moved their
// places forward (see [algo.Return]).
type line struct {
	open  int // reservations
	shift int64
}

// lineBytes is what a line takes with its place in a map that has just grown.
const lineBytes = 96

// lineOf is what the first reservation of a state takes besides its own bytes.
func (o *reservations) lineOf(p *part) int64 {
	if !p.Spec.Books() || o.lines[p.key] != nil {
		return 0
	}
	return lineBytes
}

// enter adds a reservation to the line of its state. Limits whose spends have no
// place in time have none.
func (s *Store) enter(p *part) (ln *line, shift int64) {
	if !p.Spec.Books() {
		return nil, 0
	}
	ln = s.open.lines[p.key]
	if ln == nil {
		ln = new(line)
		s.open.lines[p.key] = ln
		s.beside.Add(lineBytes)
	}
	ln.open++
	return ln, ln.shift
}

// leaveLine takes a reservation out of the line of its state.
func (s *Store) leaveLine(k key, ln *line) {
	if ln == nil {
		return
	}
	if ln.open--; ln.open == 0 {
		delete(s.open.lines, k)
		s.beside.Add(-lineBytes)
	}
}

// since is how far the place of a reservation was moved since it was made.
func (o *reservations) since(r *reservation) int64 {
	if r.line == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return r.line.shift - r.shift
}

// moved tells the reservations behind what was given back to a state, which had
// the given mark before.
func (o *reservations) moved(p *part, before algo.Mark, st *algo.State) {
	by := p.Spec.Shift(before, p.Spec.Mark(st))
	if by == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ln := o.lines[p.key]
	if p.booked != nil {
		ln = p.booked.line // others of the line may be settled by the same call
	}
	if ln != nil {
		ln.shift += by
	}
}
