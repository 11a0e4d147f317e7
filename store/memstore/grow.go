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

// add makes sure that the key has a live slot, which is fresh if it had none.
// Unit 0 asks for a place beside the slot as well. now is in µs since the epoch.
func (s *Store) add(k key, unit uint64, now int64) {
	if s.atMaxKeys() {
		s.evictAnywhere(now)
	}
	for {
		p := s.table.lockPage(k)
		done := s.addTo(p, k, unit, now)
		p.mu.Unlock()
		if done {
			return
		}
	}
}

// addTo is add with the page locked. It fails when it has to be tried again.
func (s *Store) addTo(p *page, k key, unit uint64, now int64) bool {
	ss := p.slots.Load()
	if ss == nil {
		ss = s.firstSlots(p, k)
	}
	if unit == 0 && p.rests.Load() == nil {
		p.rests.Store(new(rests))
		s.bytes.Add(restBytes)
	}
	if sl := ss.find(k); sl != nil && sl.word.Load()&moved == 0 {
		return true
	}
	i := s.place(ss, k, now)
	if i < 0 && s.mayGrow(pageBytes) {
		s.split(p, k)
		return false
	}
	if i < 0 {
		i = s.evict(p, k, now)
	}
	if i < 0 { // all in reach are held or used this very moment
		return false
	}
	s.claim(p, i, k, unit, now)
	return true
}

// firstSlots gives a page its slots when its first key comes.
func (s *Store) firstSlots(p *page, k key) *slots {
	ss := new(slots)
	s.bytes.Add(pageBytes)
	sh := &s.table.shards[shardOf[k.hi>>56]]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p.slots.Store(ss)
	sh.dir.Load().point(p)
	return ss
}

// point lets all entries that the page covers show to it.
func (d *directory) point(p *page) {
	first := p.bits << (d.depth - p.depth)
	for i := range uint64(1) << (d.depth - p.depth) {
		d.entries[first+i].slots.Store(p.slots.Load())
		d.entries[first+i].page.Store(p)
	}
}

// claim writes a fresh key into slot i, which is free or dead. The key counts as
// idle from now on, so that it is not the first to go again before it is used.
func (s *Store) claim(p *page, i int, k key, unit uint64, now int64) {
	sl := &p.slots.Load()[i]
	sl.word.Store(moved)
	sl.hi.Store(k.hi)
	sl.lo.Store(k.lo)
	sl.unit.Store(unit)
	s.dropRest(p, i)
	s.keys.Add(1)
	sl.word.Store(freshWord(unit, now))
}

// freshWord is the word of a key that is idle since now.
func freshWord(unit uint64, now int64) uint64 { return uint64(max(0, now)) * max(unit, 1) }

// dropRest forgets what stands beside a dead slot.
func (s *Store) dropRest(p *page, i int) {
	if r := p.rests.Load(); r != nil {
		s.bytes.Add(-8 * int64(cap(r[i].more)))
		r[i] = rest{}
	}
}

// split moves the keys whose next directory bit is set to a new page. Readers
// that meet a dead slot meanwhile come to the page's lock and wait.
func (s *Store) split(p *page, k key) {
	p.depth++
	p.bits <<= 1
	q := &page{depth: p.depth, bits: p.bits | 1}
	q.slots.Store(new(slots))
	if p.rests.Load() != nil {
		q.rests.Store(new(rests))
		s.bytes.Add(restBytes)
	}
	s.bytes.Add(pageBytes)
	from := p.slots.Load()
	for i := range from {
		sl := &from[i]
		if (key{hi: sl.hi.Load()}).bits()>>(64-p.depth) == q.bits {
			moveSlot(p, i, q)
		}
	}
	s.table.shards[shardOf[k.hi>>56]].grow(p, q)
}

// grow brings a page that split into the directory, which doubles if it has to.
func (sh *shard) grow(p, q *page) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	d := sh.dir.Load()
	if p.depth > d.depth {
		wide := &directory{depth: d.depth + 1, entries: make([]entry, 2*len(d.entries))}
		for i := range wide.entries {
			wide.entries[i].slots.Store(d.entries[i/2].slots.Load())
			wide.entries[i].page.Store(d.entries[i/2].page.Load())
		}
		d = wide
	}
	d.point(p)
	d.point(q)
	sh.dir.Store(d)
}

// moveSlot moves a live key from slot i of p to q, as near to its home as it
// can: its old place at least is free there, because keys are moved in the
// order of their slots and never away from home.
func moveSlot(p *page, i int, q *page) {
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
	to[j].hi.Store(k.hi)
	to[j].lo.Store(k.lo)
	to[j].unit.Store(from.unit.Load())
	to[j].word.Store(w)
	if r := p.rests.Load(); r != nil {
		q.rests.Load()[j], r[i] = r[i], rest{}
	}
}
