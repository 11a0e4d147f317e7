package memstore

import "math"

// grace is how long, in µs, an idle key keeps its slot while there is memory
// to grow: it will likely be asked for again soon.
const grace = 10e6

// place finds a slot for a new key within its reach: a free one near its home,
// else one whose key has been idle for a while. It returns -1 if there is none.
func (s *Store) place(ss *slots, k key, now int64) int {
	home := int(k.home())
	for i := home; i < home+reach; i++ {
		if sl := &ss[i]; sl.hi.Load()|sl.lo.Load() == 0 || sl.word.Load()&moved != 0 {
			return i
		}
	}
	for i := home; i < home+reach; i++ {
		w := ss[i].word.Load()
		if now > ss[i].idleSince(w)+grace && ss[i].kill(w) {
			s.keys.Add(-1)
			return i
		}
	}
	return -1
}

// victim is the best candidate for eviction so far.
type victim struct {
	page *page
	slot *slot
	i    int
	word uint64
	rank int64
	seen int // how many candidates were examined
	kept int // how many of them are marked as asked for
}

// consider looks at slot i. Idle keys go first, the longest idle of them before
// the others, then those that will be idle soonest; those that somebody asks for
// go last.
func (v *victim) consider(p *page, i int, now int64) {
	sl := &p.slots.Load()[i]
	w := sl.word.Load()
	if w&flags != 0 || sl.hi.Load()|sl.lo.Load() == 0 {
		return
	}
	v.seen++
	rank := sl.idleSince(w)
	if sl.unit.Load()&asked != 0 && rank >= now {
		v.kept++
		rank += math.MaxInt64 / 2
	}
	if v.slot == nil || rank < v.rank {
		v.page, v.slot, v.i, v.word, v.rank = p, sl, i, w, rank
	}
}

// evict makes room at the cap of memory: it kills the best victim within the
// new key's reach and returns its index, or -1 if there was none to be had
// because all are held or used this very moment.
func (s *Store) evict(p *page, k key, now int64) int {
	home := int(k.home())
	var v victim
	for i := home; i < home+reach; i++ {
		v.consider(p, i, now)
	}
	if v.kept == v.seen { // every one is asked for: the marks have served
		for i := home; i < home+reach; i++ {
			p.slots.Load()[i].unit.And(^asked)
		}
	}
	if !s.kill(v, now) {
		return -1
	}
	return v.i
}

// kill forgets the victim, whose page is locked, unless it was used since it
// was chosen.
func (s *Store) kill(v victim, now int64) bool {
	if v.slot == nil || !v.slot.kill(v.word) {
		return false
	}
	s.dropRest(v.page, v.i)
	s.keys.Add(-1)
	s.evicted.Add(1)
	if v.slot.idleSince(v.word) >= now {
		s.warn(s.forgotten.Add(1), now)
	}
	return true
}

// warn tells the log, at most once a second, that keys in use are forgotten.
func (s *Store) warn(forgotten, now int64) {
	last := s.logged.Load()
	if s.logger != nil && (last == 0 || now-last >= 1e6) && s.logged.CompareAndSwap(last, now) {
		s.logger.Warn("memstore: full, and forgets keys in use, whose limits begin anew: raise its cap",
			"forgotten", forgotten, "keys", s.keys.Load(), "bytes", s.bytes.Load())
	}
}

// evictAnywhere forgets one key: the best victim of at least 32 in the next
// pages, however sparse those are. No page is locked when it is called.
func (s *Store) evictAnywhere(now int64) {
	var v victim
	for range 4 * shards * reach {
		n := s.hand.Add(1)
		d := s.table.shards[n%shards].dir.Load()
		p := d.entries[n/shards%uint64(len(d.entries))].page.Load()
		if p.slots.Load() == nil {
			continue
		}
		for i := range pageSlots {
			v.consider(p, i, now)
		}
		if v.seen >= reach {
			break
		}
	}
	if v.slot == nil {
		return
	}
	v.page.mu.Lock()
	s.kill(v, now)
	v.page.mu.Unlock()
}

// relieve brings the store back below its cap after a state grew.
func (s *Store) relieve(now int64) {
	for tries := 0; tries < 8 && !s.mayGrow(0); tries++ {
		s.evictAnywhere(now)
	}
}

// mark remembers that the key was denied while memory was short. It writes only
// the first time.
func (s *Store) mark(sl *slot) {
	if s.maxed.Load() && sl.unit.Load()&asked == 0 {
		sl.unit.Or(asked)
	}
}

// mayGrow reports whether n more bytes stay within the cap.
func (s *Store) mayGrow(n int64) bool {
	if s.bytes.Load()+n <= s.maxBytes {
		return true
	}
	s.maxed.Store(true)
	return false
}

func (s *Store) atMaxKeys() bool {
	if s.keys.Load() < s.maxKeys {
		return false
	}
	s.maxed.Store(true)
	return true
}
