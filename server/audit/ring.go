package audit

// ring holds the last Size entries.
type ring struct {
	entries []Entry
	next    int // where the next entry goes
}

func (r *ring) add(e Entry) {
	if len(r.entries) < Size {
		r.entries = append(r.entries, e)
	} else {
		r.entries[r.next] = e
	}
	r.next = (r.next + 1) % Size
}

// back returns the entry that was added before the last i.
func (r *ring) back(i int) (e *Entry, ok bool) {
	if i >= len(r.entries) {
		return nil, false
	}
	return &r.entries[(r.next-1-i+2*Size)%Size], true
}
