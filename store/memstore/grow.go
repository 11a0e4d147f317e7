package memstore

// lockPage returns the key's page, locked. A page that split while we waited
// for it may be the wrong one by then.
func (t *table) lockPage(k key) *page {
	for {
		p := t.entry(k).page.Load()
		p.mu.Lock()
		if p.covers(k) {
			return p
		}
		p.mu.Unlock()
	}
}

// addition is a key that needs a slot.
type addition struct {
	key        key
	unit, word uint64
	now        int64 // µs since the epoch
	pin        bool  // it must stay until it is held
}

// add makes sure that the key has a live slot. If it had none, the new one has
// the word and the unit of a, and added is true. Nobody who holds a slot may call
// it: whoever splits a page waits for all of its slots.
func (s *Store) add(a addition) (r ref, added bool) {
	for room := false; ; {
		p := s.table.lockPage(a.key)
		if r, ok := p.ref(a.key); ok && r.word.Load()&moved == 0 {
			if a.pin {
				r.unit.Or(pinned)
			}
			p.mu.Unlock()
			return r, false
		}
		if !room && s.atMaxKeys() {
			p.mu.Unlock()
			s.evictKeys(a.now)
			room = true
			continue
		}
		r, added = s.addTo(p, a)
		p.mu.Unlock()
		s.warn(a.now)
		if added {
			return r, true
		}
	}
}

// addTo is add with the page locked. It fails when it has to be tried again.
func (s *Store) addTo(p *page, a addition) (ref, bool) {
	ss := p.slots.Load()
	if ss == nil {
		ss = s.firstSlots(p, a.key)
	}
	if a.unit == 0 {
		s.restsOf(p)
	}
	i := s.place(ss, a.key, a.now)
	if i < 0 && s.mayGrow(p.bytes()) {
		s.split(p, a.key)
		return ref{}, false
	}
	if i < 0 {
		v := s.evict(p, a.key, a.now)
		if v.slot == nil { // all in reach are held, and more than the cap is needed at once
			s.split(p, a.key)
			return ref{}, false
		}
		if !s.kill(v, a.now) { // used this very moment
			return ref{}, false
		}
		i = v.i
	}
	s.claim(p, i, a)
	return ref{&ss[i], p, i}, true
}

// bytes returns what the page takes, and another like it would.
func (p *page) bytes() int64 {
	if p.rests.Load() != nil {
		return pageBytes + restBytes
	}
	return pageBytes
}

// firstSlots gives a page its slots when its first key comes.
func (s *Store) firstSlots(p *page, k key) *slots {
	ss := new(slots)
	s.pages.Add(pageBytes)
	sh := &s.table.shards[shardOf[k.hi>>56]]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p.slots.Store(ss)
	sh.dir.Load().point(p)
	return ss
}

// restsOf returns the places beside a page. One that had words only has none
// yet, and the holder of a slot may need them without the page's lock.
func (s *Store) restsOf(p *page) *rests {
	if p.rests.Load() == nil && p.rests.CompareAndSwap(nil, new(rests)) {
		s.pages.Add(restBytes)
	}
	return p.rests.Load()
}

// point lets all entries that the page covers show to it.
func (d *directory) point(p *page) {
	first := p.bits << (d.depth - p.depth)
	for i := range uint64(1) << (d.depth - p.depth) {
		d.entries[first+i].slots.Store(p.slots.Load())
		d.entries[first+i].page.Store(p)
	}
}

// claim writes a new key into slot i, which is free or dead.
func (s *Store) claim(p *page, i int, a addition) {
	sl := &p.slots.Load()[i]
	p.version.Add(1)
	sl.word.Store(moved)
	sl.hi.Store(a.key.hi)
	sl.lo.Store(a.key.lo)
	unit := a.unit
	if a.pin {
		unit |= pinned
	}
	sl.unit.Store(unit)
	s.dropRest(p, i)
	s.keys.Add(1)
	sl.word.Store(a.word)
	p.version.Add(1)
}

// freshWord is the word of a key that is idle since now, so that it is not the
// first to go again before it is used.
func freshWord(unit uint64, now int64) uint64 {
	if unit == 0 {
		return uint64(now + aside)
	}
	return uint64(max(0, now)) * unit
}

// dropRest forgets what stands beside a dead slot.
func (s *Store) dropRest(p *page, i int) {
	if r := p.rests.Load(); r != nil {
		s.beside.Add(-8 * int64(cap(r[i].more)))
		r[i] = rest{}
	}
}

// split moves the keys whose next directory bit is set to a new page. Readers
// that meet a dead slot meanwhile come to the page's lock and wait.
func (s *Store) split(p *page, k key) {
	p.version.Add(1)
	p.depth++
	p.bits <<= 1
	q := &page{depth: p.depth, bits: p.bits | 1}
	q.slots.Store(new(slots))
	s.pages.Add(pageBytes)
	from := p.slots.Load()
	for i := range from {
		sl := &from[i]
		if (key{hi: sl.hi.Load()}).bits()>>(64-p.depth) == q.bits {
			s.moveSlot(p, i, q)
		}
	}
	s.pages.Add(s.table.shards[shardOf[k.hi>>56]].grow(p, q))
	p.version.Add(1)
}

// grow brings a page that split into the directory, which doubles if it has to.
// It returns by how many bytes.
func (sh *shard) grow(p, q *page) (bytes int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d := sh.dir.Load()
	if p.depth > d.depth {
		wide := &directory{depth: d.depth + 1, entries: make([]entry, 2*len(d.entries))}
		for i := range wide.entries {
			wide.entries[i].slots.Store(d.entries[i/2].slots.Load())
			wide.entries[i].page.Store(d.entries[i/2].page.Load())
		}
		bytes = pathBytes * int64(len(d.entries))
		d = wide
	}
	d.point(p)
	d.point(q)
	sh.dir.Store(d)
	return bytes
}

// moveSlot moves a live key from slot i of p to q, as near to its home as it
// can: its old place at least is free there, because keys are moved in the
// order of their slots and never away from home.
func (s *Store) moveSlot(p *page, i int, q *page) {
	from := &p.slots.Load()[i]
	w := from.word.Load()
	for spins := 0; w&moved == 0 && !from.kill(w); spins++ {
		pause(spins)
		w = from.word.Load()
	}
	if w&moved != 0 {
		return
	}
	k := key{from.hi.Load(), from.lo.Load()}
	to := q.slots.Load()
	j := int(k.home())
	for to[j].hi.Load()|to[j].lo.Load() != 0 {
		j++
	}
	if r := p.rests.Load(); r != nil { // perhaps only since the split began
		s.restsOf(q)[j], r[i] = r[i], rest{}
	}
	to[j].hi.Store(k.hi)
	to[j].lo.Store(k.lo)
	to[j].unit.Store(from.unit.Load())
	to[j].word.Store(w)
}
