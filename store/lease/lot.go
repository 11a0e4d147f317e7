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
	era    int64    // of the lease when it was asked for
	size   int64
	gone   int64        // what was taken out by closing it
	low    int64        // with so much left the next one is fetched
	at     int64        // the store's instant at which it was spent
	mark   algo.Mark    // and its mark there
	answer algo.Verdict // the store's answer, for the caller's limit
	told   atomic.Bool  // that it is low
	open   atomic.Int64 // what of it is in payments that may be put back
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
func (l *lot) close() int64 {
	unused := l.left.Swap(0)
	l.gone += unused
	return unused
}

// spent is how much of the lot was given to requests for good, or until it is
// refunded.
func (l *lot) spent() int64 { return l.size - l.gone - l.left.Load() - l.open.Load() }

// payment is what a request took, and out of which lots: the newer one, which
// answers for it, and sometimes the rest of an older one.
type payment struct {
	lot, old   *lot
	cost, part int64 // all, and how much of it from old
	left       int64 // in lot, after the payment
}

// hold notes that the payment may be put back, so that nobody else does.
func (p *payment) hold() {
	p.lot.open.Add(p.cost - p.part)
	if p.old != nil {
		p.old.open.Add(p.part)
	}
}

// settle ends that.
func (p *payment) settle() {
	p.lot.open.Add(p.part - p.cost)
	if p.old != nil {
		p.old.open.Add(-p.part)
	}
}

// verdict is the answer to a request that paid: what the store had left when it
// granted the lot, and what of the lot is left since.
func (p *payment) verdict(of *algo.Spec, now int64) algo.Verdict {
	v := of.Moved(p.lot.answer, -p.left)
	v.Z = max(0, v.Z-(now-p.lot.sent))
	return v
}
