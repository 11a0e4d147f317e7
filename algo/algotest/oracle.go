package algotest

import (
	"math/big"

	"github.com/sluice-limiter/sluice/algo"
)

// Event is one line of an oracle's log: what was admitted, and when in µs. A
// negative cost is a refund to a bucket.
type Event struct{ At, Cost int64 }

// Oracle judges decisions about one key. It knows nothing but the definition of
// the limit and the log of what was admitted; every answer is computed from the
// whole log, with big integers, and nothing is kept between two questions. So it
// shares no code and no idea with the state machines that it judges.
//
// The clock of the log must not go back. Only exported fields of Def are read.
type Oracle struct {
	Def algo.Spec
	Log []Event
}

// Answer is what the definition says about one request.
type Answer struct {
	Allowed bool
	Never   bool  // no wait will help
	Wait    int64 // allowed: the least wait, µs
	Retry   int64 // denied: the least time after which it is allowed, µs
}

// NewOracle returns the judge of a key that was never seen.
func NewOracle(def algo.Spec) *Oracle { return &Oracle{Def: def} }

// Most is the largest cost that the limit can ever admit.
func (o *Oracle) Most() int64 {
	switch o.Def.Kind {
	case algo.Ban:
		return 0
	case algo.Unlimited, algo.WarmUp:
		return algo.MaxCount
	case algo.TokenBucket, algo.IntervalBucket:
		return o.Def.Burst
	case algo.LeakyBucket:
		return o.Def.Burst + 1
	case algo.SlidingLog:
		most := o.Def.Windows[0].Count
		for _, w := range o.Def.Windows {
			most = min(most, w.Count)
		}
		return most
	}
	return o.Def.Count
}

// Ask judges a request: may cost be admitted at the instant at by somebody who
// would wait for patience µs? Cost 0 asks for 1, as a peek does.
func (o *Oracle) Ask(at, cost, patience int64) Answer {
	if cost == 0 {
		cost = 1
	}
	if cost < 0 || cost > o.Most() {
		return Answer{Never: true}
	}
	if o.Def.Kind == algo.Unlimited {
		return Answer{Allowed: true}
	}
	patience = max(0, min(patience, o.patience()))
	wait, full := o.delay(at, cost, patience)
	if retry := max(full, wait-patience); retry > 0 {
		return Answer{Retry: retry}
	}
	return Answer{Allowed: true, Wait: wait}
}

// patience is the longest wait that the limit itself allows.
func (o *Oracle) patience() int64 {
	if o.Def.MaxWait == 0 {
		return algo.MaxAhead
	}
	return o.Def.MaxWait
}

// delay returns how long the request would wait for its turn, and how long it is
// until it may be accepted at all, whatever its patience.
func (o *Oracle) delay(at, cost, patience int64) (wait, full int64) {
	switch o.Def.Kind {
	case algo.TokenBucket:
		return o.bucketWait(at, cost, o.Def.Burst), 0
	case algo.IntervalBucket:
		return o.intervalWait(at, cost), 0
	case algo.LeakyBucket:
		return o.bucketWait(at, 0, 0), o.bucketWait(at, cost, o.Def.Burst+1)
	case algo.WarmUp:
		wait, _ = o.WarmWait(at)
		return wait, 0
	}
	return 0, o.windowRetry(at, cost)
}

// Remaining is the largest cost that may be admitted at the instant at; for a
// leaky bucket to anybody patient enough.
func (o *Oracle) Remaining(at int64) int64 {
	switch o.Def.Kind {
	case algo.Ban:
		return 0
	case algo.Unlimited:
		return algo.MaxCount
	case algo.TokenBucket, algo.LeakyBucket:
		return o.bucketRemaining(at)
	case algo.IntervalBucket:
		missing, _ := o.missing(at)
		return max(0, o.Def.Burst-bigClip(missing))
	case algo.WarmUp:
		if wait, _ := o.WarmWait(at); wait > 0 {
			return 0
		}
		return 1
	}
	return o.windowRemaining(at)
}

// Reset is the time in µs after which nothing of the log counts any more. For
// warm_up it is the time until the next request may go.
func (o *Oracle) Reset(at int64) int64 {
	switch o.Def.Kind {
	case algo.Ban, algo.Unlimited:
		return 0
	case algo.TokenBucket, algo.LeakyBucket:
		return o.bucketWait(at, 0, 0)
	case algo.IntervalBucket:
		return o.intervalReset(at)
	case algo.WarmUp:
		wait, _ := o.WarmWait(at)
		return wait
	}
	return o.windowReset(at)
}

// Admit logs that cost was admitted at the instant at.
func (o *Oracle) Admit(at, cost int64) {
	if cost > 0 {
		o.Log = append(o.Log, Event{at, cost})
	}
}

// Refund logs that cost was given back: a bucket stops at full, everything else
// gives back what still counts, newest first. warm_up is not judged here.
func (o *Oracle) Refund(at, cost int64) {
	switch o.Def.Kind {
	case algo.TokenBucket, algo.LeakyBucket, algo.IntervalBucket:
		o.Log = append(o.Log, Event{at, -cost})
		return
	}
	for i := len(o.Log) - 1; i >= 0 && cost > 0; i-- {
		e := &o.Log[i]
		if o.counts(*e, at) {
			back := min(cost, e.Cost)
			e.Cost -= back
			cost -= back
		}
	}
}

// bigInt makes a big integer.
func bigInt(v int64) *big.Int { return big.NewInt(v) }

// bigProduct returns a·b.
func bigProduct(a, b int64) *big.Int { return new(big.Int).Mul(bigInt(a), bigInt(b)) }

// bigClip turns a big integer into an int64, cutting what does not fit.
func bigClip(v *big.Int) int64 {
	if v.IsInt64() {
		return v.Int64()
	}
	if v.Sign() < 0 {
		return -1 << 63
	}
	return 1<<63 - 1
}

// bigCeil returns a/b rounded up, for positive b.
func bigCeil(a *big.Int, b int64) int64 {
	q, m := new(big.Int).DivMod(a, bigInt(b), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, bigInt(1))
	}
	return bigClip(q)
}

// floorDiv returns a/b rounded down, for positive b.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
