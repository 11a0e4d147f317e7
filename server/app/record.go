package app

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// record remembers for a while which rule saw whom when, and for how much: enough to tell
// what another limit would have done. Keys are hashed by a secret of this process, so that
// nobody can be found in it. It takes a bounded number of bytes.
type record struct {
	seed   maphash.Seed
	now    func() time.Time
	since  func(time.Time) time.Duration // costs half of what now does
	shards [recordShards]recordShard
	blocks blockPool

	rules atomic.Pointer[recordedRules]
	mu    sync.Mutex // guards ids, and changes of rules
	ids   map[string]recordedRule
}

// recordShards keep callers from waiting for each other. A key is always in the same one,
// so that the order of its requests is known.
const recordShards = 64

type recordShard struct {
	mu   sync.Mutex // guards open
	open *block     // nil at first
	_    [48]byte   // the next one is in another cache line
}

// recordedRule is a rule as far as its record is concerned: with another match or key it
// is another, even if the name stays.
type recordedRule struct {
	id    uint16 // from 1 on
	since int64  // recorded from then on, in µs since 1970
}

// recordedRules finds the ids of rules without a lock: by their number in the set, if it
// is still the same rule.
type recordedRules struct {
	rules []*rule.Compiled
	ids   []uint16
}

// sighting is one request that a rule saw, in 16 bytes.
type sighting struct {
	who   uint64 // 48 bits of the key's hash, and the rule's id
	after uint32 // µs since the one before it in the block, or since that began
	cost  uint32 // with refusedElsewhere
}

// refusedElsewhere marks a request that another rule refused: this one's limits were not
// charged, and would not be. What costs more than mostCost is taken as that.
const (
	refusedElsewhere = 1 << 31
	mostCost         = refusedElsewhere - 1
)

func newRecord(bytes int64, age time.Duration, now func() time.Time, since func(time.Time) time.Duration) *record {
	r := &record{seed: maphash.MakeSeed(), now: now, since: since, ids: map[string]recordedRule{}}
	r.blocks.most, r.blocks.age = max(int(bytes/blockBytes), recordShards+1), age.Microseconds()
	r.rules.Store(&recordedRules{})
	return r
}

// Observe implements engine.Observer.
func (r *record) Observe(e *engine.Event) {
	if e.Err != nil {
		return
	}
	for i := range e.Outcomes {
		o := &e.Outcomes[i]
		if o.Key == "" { // decided without a look at its limits
			continue
		}
		cost := uint32(min(max(o.Cost, 0), mostCost))
		if !e.Decision.Allowed && othersRefuse(e, i) {
			cost |= refusedElsewhere
		}
		if id := r.id(o.Rule); id != 0 {
			r.add(maphash.String(r.seed, o.Key), id, cost)
		}
	}
}

// othersRefuse reports whether a rule beside one refused the request.
func othersRefuse(e *engine.Event, one int) bool {
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; i != one && o.Enforced && !o.Allowed && !o.Undecided {
			return true
		}
	}
	return false
}

// add writes a sighting down.
func (r *record) add(hash uint64, id uint16, cost uint32) {
	shard := &r.shards[hash%recordShards]
	shard.mu.Lock()
	b := shard.open
	passed := time.Duration(-1)
	if b != nil {
		passed = r.since(b.base)
	}
	if b == nil || passed > blockLife || !b.add(passed, hash&^0xffff|uint64(id), cost) {
		b = r.blocks.next(b, r.now())
		shard.open = b
		b.add(0, hash&^0xffff|uint64(id), cost)
	}
	shard.mu.Unlock()
}

// id returns the id of a rule, 0 if there are none left.
func (r *record) id(c *rule.Compiled) uint16 {
	if known := r.rules.Load(); c.Index < len(known.rules) && known.rules[c.Index] == c {
		return known.ids[c.Index]
	}
	return r.register(c).id
}

// register gives a rule an id, or finds the one that it has had before.
func (r *record) register(c *rule.Compiled) recordedRule {
	text := recordedAs(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.ids[text]
	if !ok && len(r.ids) < math.MaxUint16 {
		found = recordedRule{uint16(len(r.ids) + 1), r.now().UnixMicro()}
		r.ids[text] = found
	}
	old, known := r.rules.Load(), &recordedRules{}
	size := max(len(old.rules), c.Index+1)
	known.rules, known.ids = make([]*rule.Compiled, size), make([]uint16, size)
	copy(known.rules, old.rules)
	copy(known.ids, old.ids)
	known.rules[c.Index], known.ids[c.Index] = c, found.id
	r.rules.Store(known)
	return found
}

// recordedAs describes which requests a rule sees, and under which keys and costs.
func recordedAs(c *rule.Compiled) string {
	text, err := json.Marshal(rule.Rule{Name: c.Name, Match: c.Match, Skip: c.Skip, Key: c.Key, Missing: c.Missing, Hash: c.Hash, Tag: c.Tag, Cost: c.Cost})
	if err != nil {
		return c.Name
	}
	return string(text)
}
