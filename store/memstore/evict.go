package memstore

import "math"

// grace is how long, in µs, an idle key keeps its slot while there is memory
// to grow: it will likely be asked for again soon.
const grace = 10e6

// place finds a slot for a new key within its reach: a free one near its home,
// else one whose key has been idle for a while. It returns -1 if there is none.
func (s *Store) place(p *page, k key, now int64) int {
	ss, step := p.slots.Load(), p.table.step
	home := k.home(step)
	for i := home; i < home+reach*step; i += step {
		if sl := ss.at(i % places(step)); sl.hi.Load()|sl.lo.Load() == 0 || sl.word.Load()&moved != 0 {
			return int(i % places(step))
		}
	}
	for i := home; i < home+reach*step; i += step {
		sl := ss.at(i % places(step))
		w := sl.word.Load()
		if now > sl.idleSince(w)+grace && sl.unit.Load()&pinned == 0 && sl.kill(w) {
			s.keys.Add(-1)
			return int(i % places(step))
		}
	}
	return -1
}

// victim is the best candidate for eviction so far.
type victim struct {
	page *page
	slot *slot
	i    uint
	word uint64
	rank int64
	only uint64 // consider only keys whose unit has this bit
	seen int    // how many candidates were examined
	kept int    // how many of them are marked as asked for
}

// consider looks at slot i. Idle keys go first, the longest idle of them before
// the others, then those that will be idle soonest; those that somebody asks for
// go last.
func (v *victim) consider(p *page, i uint, now int64) {
	sl := p.slots.Load().at(i)
	if sl.hi.Load()|sl.lo.Load() == 0 {
		return
	}
	w, unit := sl.word.Load(), sl.unit.Load()
	if w&flags != 0 || unit&pinned != 0 || unit&v.only != v.only {
		return
	}
	v.seen++
	rank := sl.idleSince(w)
	if unit&asked != 0 && rank >= now {
		v.kept++
		rank += math.MaxInt64 / 2
	}
	if v.slot == nil || rank < v.rank {
		v.page, v.slot, v.i, v.word, v.rank = p, sl, i, w, rank
	}
}

// evict chooses who makes room at the cap of memory: the best victim within the
// new key's reach. There is none if all are held.
func (s *Store) evict(p *page, k key, now int64) victim {
	step := p.table.step
	home := k.home(step)
	var v victim
	for i := home; i < home+reach*step; i += step {
		v.consider(p, i%places(step), now)
	}
	if v.kept == v.seen { // every one is asked for: the marks have served
		for i := home; i < home+reach*step; i += step {
			p.slots.Load().at(i % places(step)).unit.And(^asked)
		}
	}
	return v
}

// kill forgets the victim, whose page is locked, unless it was used since it
// was chosen.
func (s *Store) kill(v victim, now int64) bool {
	if v.slot.unit.Load()&pinned != 0 || !v.slot.kill(v.word) {
		return false
	}
	s.dropRest(v.slot)
	s.keys.Add(-1)
	s.evicted.Add(1)
	if v.slot.idleSince(v.word) >= now {
		s.forgotten.Add(1)
	}
	return true
}

// warn tells the log, at most once a second, that keys in use were forgotten. No
// page is locked and no slot held when it is called, because the log may ask a
// limiter.
func (s *Store) warn(now int64) {
	if s.logger == nil || s.forgotten.Load() == s.told.Load() {
		return
	}
	last := s.logged.Load()
	if (last == 0 || now-last >= 1e6 || now < last) && s.logged.CompareAndSwap(last, now) {
		n := s.forgotten.Load()
		s.told.Store(n)
		s.logger.Warn("memstore: full, and forgets keys in use, whose limits begin anew: raise its cap",
			"forgotten", n, "keys", s.keys.Load(), "bytes", s.Stats().Bytes)
	}
}

// evictKeys makes room at the cap of keys. One for each that is added keeps it;
// a second brings the store back to it after more were needed at once.
func (s *Store) evictKeys(now int64) {
	for tries := 0; tries < 2 && s.atMaxKeys() && s.evictAnywhere(now, 0); tries++ {
	}
}

// evictAnywhere forgets one key whose unit has the bit only, if that is not 0: the best
// victim of at least 32 in the next pages, however sparse those are, and of some
// more as long as none of them is idle. No page is locked when it is called. It
// reports whether there was any.
func (s *Store) evictAnywhere(now int64, only uint64) bool {
	v := victim{only: only}
	for pages := range shards * reach {
		p := s.nextPage()
		if p.slots.Load() == nil {
			continue
		}
		for i := uint(0); i < places(p.table.step); i += p.table.step {
			v.consider(p, i, now)
		}
		if v.seen >= reach && (v.rank < now || pages >= 1) {
			break
		}
	}
	if v.slot == nil {
		return false
	}
	v.page.mu.Lock()
	s.kill(v, now)
	v.page.mu.Unlock()
	return true
}

// nextPage returns the page that is next to make room. Steps of the golden ratio meet
// each page as often as new keys do, and each table as often as it has pages.
func (s *Store) nextPage() *page {
	h := s.hand.Add(1) * 0x9e3779b97f4a7c15
	all := s.tables()
	sum := int64(1)
	for _, t := range all {
		sum += t.bytes.Load()
	}
	at := int64(h % uint64(sum))
	for _, t := range all[1:] {
		if at -= t.bytes.Load(); at < 0 {
			return t.page(key{hi: h})
		}
	}
	return s.table.page(key{hi: h})
}

// relieve brings the store back below its cap after a state grew, and sees to it
// that the next one finds a rest where no more can be made. Only keys with memory
// of their own can help: pages are never given back.
func (s *Store) relieve(now int64) {
	for tries := 0; tries < 8 && s.tight() && s.evictAnywhere(now, far); tries++ {
	}
	// The cells of those stay with the store: it may take one with memory of its own.
	for !s.roomBeside(0) && s.evictAnywhere(now, far|long) {
	}
	s.warn(now)
}

// tight reports whether states need more memory than there is, or the next one will.
func (s *Store) tight() bool {
	return !s.roomBeside(0) || s.rests.spare.Load() == 0 && !s.roomBeside(restChunk*restBytes)
}

// mark remembers that the key was denied while memory was short. It writes only
// the first time.
func (s *Store) mark(sl *slot) {
	if s.maxed.Load() && sl.unit.Load()&asked == 0 {
		sl.unit.Or(asked)
	}
}

// within reports whether used stays within a cap. Memory counts as short from
// seven eighths of it on, so that keys in use are known before others make room.
func (s *Store) within(used, most int64) bool {
	if used > most-most/8 {
		s.maxed.Store(true)
	}
	return used <= most
}

// mayGrow reports whether n more bytes of pages of the table stay within the cap. A
// sixteenth of that is left to all but the narrow table, half of it to what stands
// beside the tables.
func (s *Store) mayGrow(t *table, n int64) bool {
	beside := s.claims() - t.claims() + max(s.besides(), s.maxBytes/32)
	if t == &s.table {
		beside = max(beside, s.maxBytes/16)
	}
	return s.within(t.bytes.Load()+n+beside, s.maxBytes)
}

// claims returns the bytes of the table, or of the first pages of its shards, which
// nobody denies it.
func (t *table) claims() int64 { return max(t.bytes.Load(), shards*pageBytes(t.step)) }

// claims returns those of all tables.
func (s *Store) claims() (bytes int64) {
	for _, t := range s.tables() {
		bytes += t.claims()
	}
	return bytes
}

// roomBeside reports whether there is room for n more bytes beside the tables: of
// states that grow, of reservations, and of permits.
func (s *Store) roomBeside(n int64) bool {
	return s.within(s.besides()+n, max(s.maxBytes-s.claims(), s.maxBytes/32))
}

// besides returns the bytes of what stands beside the tables, free rests included.
func (s *Store) besides() int64 { return s.beside.Load() + s.rests.spare.Load() }

// atMaxKeys reports whether a key has to go before another comes.
func (s *Store) atMaxKeys() bool { return !s.within(s.keys.Load()+1, s.maxKeys) }
