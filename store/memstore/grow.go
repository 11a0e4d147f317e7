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
	table      *table
	key        key
	unit, word uint64
	now        int64 // µs since the epoch
	pin        bool  // it must stay until it is held
}

// add makes sure that the key has a live slot. If it had none, the new one has
// the word and the unit of a, and added is true. Nobody who holds a slot may call
// it: whoever splits a page waits for all of its slots.
func (s *Store) add(a addition) (sl *slot, added bool) {
	for room := false; ; {
		p := a.table.lockPage(a.key)
		if sl := p.live(a.key); sl != nil {
			if a.pin {
				sl.unit.Or(pinned)
			}
			p.mu.Unlock()
			return sl, false
		}
		if !room && s.atMaxKeys() {
			p.mu.Unlock()
			s.evictKeys(a.now)
			room = true
			continue
		}
		sl, added = s.addTo(p, a)
		p.mu.Unlock()
		s.warn(a.now)
		if added {
			return sl, true
		}
	}
}

// addTo is add with the page locked. It fails when it has to be tried again.
func (s *Store) addTo(p *page, a addition) (*slot, bool) {
	ss := p.slots.Load()
	if ss == nil {
		ss = p.firstSlots(a.key)
	}
	i := s.place(p, a.key, a.now)
	if i < 0 && s.mayGrow(p.table, p.growth(a.key)) {
		p.split(a.key)
		return nil, false
	}
	if i < 0 {
		v := s.evict(p, a.key, a.now)
		if v.slot == nil { // all in reach are held, and more than the cap is needed at once
			p.split(a.key)
			return nil, false
		}
		if !s.kill(v, a.now) { // used this very moment
			return nil, false
		}
		i = int(v.i)
	}
	sl := ss.at(uint(i))
	s.claim(p, sl, a)
	return sl, true
}

// firstSlots gives a page its slots when its first key comes.
func (p *page) firstSlots(k key) *slots {
	ss := newSlots(p.table.step)
	p.table.bytes.Add(pageBytes(p.table.step))
	sh := &p.table.shards[shardOf[k.hi>>56]]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	p.slots.Store(ss)
	sh.dir.point(p)
	return ss
}

// point lets all entries that the page covers show to it.
func (d *directory) point(p *page) {
	first := p.bits << (d.depth - p.depth)
	for i := range uint64(1) << (d.depth - p.depth) {
		d.slots[first+i].Store(p.slots.Load())
		d.pages[first+i].Store(p)
	}
}

// claim writes a new key into a slot that is free or dead.
func (s *Store) claim(p *page, sl *slot, a addition) {
	p.version.Add(1)
	s.dropRest(sl)
	sl.word.Store(moved)
	sl.hi.Store(a.key.hi)
	sl.lo.Store(a.key.lo)
	unit := a.unit
	if a.pin {
		unit |= pinned
	}
	sl.unit.Store(unit)
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

// split moves the keys whose next directory bit is set to a new page. Readers
// that meet a dead slot meanwhile come to the page's lock and wait.
func (p *page) split(k key) {
	p.version.Add(1)
	p.depth++
	p.bits <<= 1
	q := &page{table: p.table, depth: p.depth, bits: p.bits | 1}
	q.slots.Store(newSlots(p.table.step))
	p.table.bytes.Add(pageBytes(p.table.step))
	moveSlots(p, q, true)
	moveSlots(p, q, false)
	p.compact()
	p.table.bytes.Add(p.table.grow(shardOf[k.hi>>56], p, q))
	p.version.Add(1)
}

// growth is how many bytes a split of the page takes at most: those of another page,
// and of a directory twice as large if this one tells no more keys apart.
func (p *page) growth(k key) int64 {
	d := p.table.dirs[k.hi>>56].Load()
	bytes := pageBytes(p.table.step)
	if p.depth == d.depth {
		bytes += pathBytes * int64(len(d.pages))
	}
	return bytes
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
func moveSlots(p, q *page, over bool) {
	from, step := p.slots.Load(), p.table.step
	for i := uint(0); i < places(step); i += step {
		sl := from.at(i)
		k := key{sl.hi.Load(), sl.lo.Load()}
		if q.covers(k) && (i < k.home(step)) == over {
			moveSlot(p, i, q)
		}
	}
}

func moveSlot(p *page, i uint, q *page) {
	from, step := p.slots.Load().at(i), p.table.step
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
	j := min(i, k.home(step))
	for to.at(j).hi.Load()|to.at(j).lo.Load() != 0 {
		j += step
	}
	to.at(j).put(from, w)
}

// put moves a key here, into a free or dead slot without a rest, from one that
// has just been killed and whose word was w.
func (s *slot) put(from *slot, w uint64) {
	s.word.Store(moved)
	s.hi.Store(from.hi.Load())
	s.lo.Store(from.lo.Load())
	unit := from.unit.Swap(0) // its rest has one owner
	s.unit.Store(unit)
	if unit&(near|ample) != 0 {
		copy(s.tail(unit), from.tail(unit))
	}
	s.word.Store(w)
}

// compact moves keys of a page that has just been split nearer to their homes,
// so that they are found sooner. A key that is in use this moment stays.
func (p *page) compact() {
	ss, step := p.slots.Load(), p.table.step
	for i := uint(0); i < places(step); i += step {
		from := ss.at(i)
		k, w := key{from.hi.Load(), from.lo.Load()}, from.word.Load()
		if w&flags != 0 || k == (key{}) {
			continue
		}
		for j := k.home(step); j%places(step) != i; j += step {
			to := ss.at(j % places(step))
			if to.word.Load()&moved == 0 && to.hi.Load()|to.lo.Load() != 0 {
				continue
			}
			if from.kill(w) { // only then nobody changes what belongs to the word
				to.put(from, w)
			}
			break
		}
	}
}
