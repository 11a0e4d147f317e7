package memstore

// lockPage returns the key's page, locked. A page that split while we waited
// for it may be the wrong one by then.
func (t *table) lockPage(k key) *page {
	for {
		p := t.page(k)
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
	sh.dir.point(p)
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
		d.slots[first+i].Store(p.slots.Load())
		d.pages[first+i].Store(p)
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
	s.moveSlots(p, q, true)
	s.moveSlots(p, q, false)
	p.compact()
	s.pages.Add(s.table.grow(shardOf[k.hi>>56], p, q))
	p.version.Add(1)
}

// grow brings a page that split into the directory, which doubles if it has to.
// It returns by how many bytes.
func (t *table) grow(shard uint8, p, q *page) (bytes int64) {
	sh := &t.shards[shard]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d := sh.dir
	if p.depth > d.depth {
		wide := newDirectory(d.depth + 1)
		for i := range wide.pages {
			wide.slots[i].Store(d.slots[i/2].Load())
			wide.pages[i].Store(d.pages[i/2].Load())
		}
		bytes = pathBytes * int64(len(d.pages))
		d = wide
	}
	d.point(p)
	d.point(q)
	if d != sh.dir {
		t.publish(shard, d)
	}
	return bytes
}

// moveSlots moves the keys of q that still are in p: those whose reach went over
// the page's end to the same slots, and then the others, in the order of their
// slots, as near to their homes as they can. So for each its old place, at least,
// is free.
func (s *Store) moveSlots(p, q *page, over bool) {
	from := p.slots.Load()
	for i := range from {
		k := key{from[i].hi.Load(), from[i].lo.Load()}
		if q.covers(k) && (i < int(k.home())) == over {
			s.moveSlot(p, i, q)
		}
	}
}

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
	j := min(i, int(k.home()))
	for to[j].hi.Load()|to[j].lo.Load() != 0 {
		j++
	}
	if r := p.rests.Load(); r != nil { // perhaps only since the split began
		s.restsOf(q)[j], r[i] = r[i], rest{}
	}
	to[j].put(k, from.unit.Load(), w)
}

// put writes a key into a dead or free slot.
func (s *slot) put(k key, unit, w uint64) {
	s.word.Store(moved)
	s.hi.Store(k.hi)
	s.lo.Store(k.lo)
	s.unit.Store(unit)
	s.word.Store(w)
}

// compact moves keys of a page that has just been split nearer to their homes,
// so that they are found sooner. A key that is in use this moment stays.
func (p *page) compact() {
	ss := p.slots.Load()
	for i := range ss {
		from := &ss[i]
		k, w := key{from.hi.Load(), from.lo.Load()}, from.word.Load()
		if w&flags != 0 || k == (key{}) {
			continue
		}
		for j := k.home(); j%pageSlots != uint(i); j++ {
			to := &ss[j%pageSlots]
			if to.word.Load()&moved == 0 && to.hi.Load()|to.lo.Load() != 0 {
				continue
			}
			if from.kill(w) { // only then nobody changes what belongs to the word
				if rs := p.rests.Load(); rs != nil {
					rs[j%pageSlots], rs[i] = rs[i], rest{}
				}
				to.put(k, from.unit.Load(), w)
			}
			break
		}
	}
}
