package lease

import (
	"sync/atomic"

	"github.com/sluice-limiter/sluice/algo"
)

// lot is one batch of tokens. Only left changes, and every token leaves it once:
// to a request, or to whoever closes the lot.
type lot struct {
	left   atomic.Int64
	_      [56]byte // what everybody reads is not on the line that everybody writes
	until  int64    // no token is spent from this local instant on
	sent   int64    // the local instant at which it was asked for
	size   int64
	low    int64        // with so much left the next one is fetched
	at     int64        // the store's instant at which it was spent
	mark   algo.Mark    // and its mark there
	answer algo.Verdict // the store's answer, for the caller's limit
	told   atomic.Bool  // that it is low
}

// take spends cost, if the lot is alive and holds it. A request counts at the
// instant at which its clock was read, however long it takes to get here.
func (l *lot) take(now, cost int64) (left int64, ok bool) {
	if now >= l.until {
		return 0, false
	}
	for {
		n := l.left.Load()
		if n < cost {
			return 0, false
		}
		if l.left.CompareAndSwap(n, n-cost) {
			return n - cost, true
		}
	}
}

// useful reports whether anything of the lot can still be spent.
func (l *lot) useful(now int64) bool { return l != nil && now < l.until && l.left.Load() > 0 }

// close empties the lot and returns what was left in it.
func (l *lot) close() int64 { return l.left.Swap(0) }

// payment is what a request took, and out of which lots: the newer one, which
// answers for it, and sometimes the rest of an older one.
type payment struct {
	lot, old   *lot
	cost, part int64 // all, and how much of it from old
	left       int64 // in lot, after the payment
}

// verdict is the answer to a request that paid: what the store had left when it
// granted the lot, and what of the lot is left since.
func (p *payment) verdict(of *algo.Spec, now int64) algo.Verdict {
	v := of.Moved(p.lot.answer, -p.left)
	v.Z = max(0, v.Z-(now-p.lot.sent))
	return v
}
