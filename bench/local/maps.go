package local

import (
	"sync"

	"github.com/puzpuzpuz/xsync/v4"
)

// syncMap is what users of a library without keys write: a sync.Map of
// limiters, made on first use. The two function values cost one or two
// nanoseconds per decision.
type syncMap[L any] struct {
	m     sync.Map
	make  func() L
	allow func(L) bool
}

// Run implements Keyed.
func (s *syncMap[L]) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		key := seq[:KeyLen]
		v, ok := s.m.Load(key)
		if !ok {
			v, _ = s.m.LoadOrStore(key, s.make())
		}
		t.count(s.allow(v.(L)))
	}
	return t
}

// inSyncMap makes a NewKeyed of a constructor and a decision.
func inSyncMap[L any](build func(Quota) L, allow func(L) bool) func(Quota, int) Keyed {
	return func(q Quota, _ int) Keyed {
		return &syncMap[L]{make: func() L { return build(q) }, allow: allow}
	}
}

// xsyncMap is the same with the fastest general map at hand.
type xsyncMap[L any] struct {
	m     *xsync.Map[string, L]
	make  func() L
	allow func(L) bool
}

// Run implements Keyed.
func (x *xsyncMap[L]) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		key := seq[:KeyLen]
		l, ok := x.m.Load(key)
		if !ok {
			l, _ = x.m.LoadOrStore(key, x.make())
		}
		t.count(x.allow(l))
	}
	return t
}

// inXsyncMap is inSyncMap for xsync.Map.
func inXsyncMap[L any](build func(Quota) L, allow func(L) bool) func(Quota, int) Keyed {
	return func(q Quota, _ int) Keyed {
		return &xsyncMap[L]{
			m: xsync.NewMap[string, L](), make: func() L { return build(q) }, allow: allow,
		}
	}
}

// oneKey asks a keyed library for one key only.
type oneKey struct{ k Keyed }

const oneKeyBatch = 64

var oneKeySeq = func() string {
	var b []byte
	for range oneKeyBatch {
		b = appendKey(b, 0)
	}
	return string(b)
}()

// Run implements Single.
func (o oneKey) Run(n int) (t Tally) {
	for ; n > 0; n -= oneKeyBatch {
		t.add(o.k.Run(oneKeySeq[:min(n, oneKeyBatch)*KeyLen]))
	}
	return t
}

// Close closes what it asks.
func (o oneKey) Close() { closeAny(o.k) }

// asSingle makes a NewSingle of a NewKeyed.
func asSingle(build func(Quota, int) Keyed) func(Quota) Single {
	return func(q Quota) Single { return oneKey{build(q, 1)} }
}
