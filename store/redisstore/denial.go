package redisstore

import (
	"hash/maphash"
	"math/bits"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Defaults of the denial cache.
const (
	denialEntries = 16384
	denialMaxAge  = time.Second
)

// denials remembers what the server has denied, and answers for it until that
// may have changed: the same limit of the same key, asked for as much or more by
// somebody as patient or less. It never refuses what the server would have
// allowed, unless another process gave budget back, or a call by another definition
// of the limit is under way (a smaller limit cuts the debt); for those cases no entry
// lives longer than maxAge. What this process gives back is dropped at once.
//
// Instants are those of one monotonic clock in µs. A denial is dated back to the
// instant at which it was asked for, which the server cannot have seen later: so
// it runs out early, by as long as the answer took, and never late.
//
// Answering writes nothing that is shared, takes no lock and allocates nothing.
type denials struct {
	hi, lo maphash.Seed
	maxAge int64
	sets   []denialSet // a power of two
}

// newDenials returns a cache for about maxEntries denials, each a limit of a key.
func newDenials(maxEntries int, maxAge time.Duration) *denials {
	sets := max(1, (maxEntries+denialWays-1)/denialWays)
	return &denials{
		hi: maphash.MakeSeed(), lo: maphash.MakeSeed(),
		maxAge: maxAge.Microseconds(),
		sets:   make([]denialSet, 1<<bits.Len(uint(sets-1))),
	}
}

// denialKey is a key by 128 bits of a hash that nobody outside can foresee.
type denialKey struct{ hi, lo uint64 }

func (d *denials) key(name string) denialKey {
	return denialKey{maphash.String(d.hi, name), maphash.String(d.lo, name)}
}

func (d *denials) set(k denialKey) *denialSet { return &d.sets[k.lo&uint64(len(d.sets)-1)] }

// knowledge is what the cache has to say of a request.
type knowledge uint8

const (
	unknown knowledge = iota
	ranOut            // a denial would have answered it, but has run out
	denied            // answered
)

// answer decides a Spend without the server if that is known to spend nothing, since
// it denies a check that is no shadow, or all of them. A check that nothing is known of
// gets a blind verdict ([algo.Spec.Blind]): allowed as far as anybody knows, which is
// why the decision's wait may turn out to be longer.
func (d *denials) answer(now int64, checks []store.Check) knowledge {
	if len(checks) == 1 {
		c := &checks[0]
		return d.answerOne(now, d.key(c.Key), c)
	}
	return d.answerAll(now, checks)
}

func (d *denials) answerOne(now int64, k denialKey, c *store.Check) knowledge {
	e, found := d.set(k).find(k, c.Spec)
	switch {
	case !found:
		return unknown
	case e.spec != c.Spec: // the limit changed
		d.dropKey(now-1, k)
		return unknown
	case c.Cost < e.cost || c.MaxWait > e.wait:
		return unknown
	case now >= e.until:
		return ranOut
	}
	v, ok := e.spec.Repeat(e.verdict, now-e.sent, c.Cost, c.MaxWait)
	if !ok {
		return unknown
	}
	c.Verdict = v
	return denied
}

func (d *denials) answerAll(now int64, checks []store.Check) (known knowledge) {
	if len(checks) > 64 {
		return unknown
	}
	var k denialKey
	var denials uint64
	refused, all := false, true
	for i := range checks {
		c := &checks[i]
		if i == 0 || c.Key != checks[i-1].Key {
			k = d.key(c.Key)
		}
		one := d.answerOne(now, k, c)
		if one == denied {
			denials |= 1 << i
			refused = refused || !c.Shadow
			continue
		}
		all, known = false, max(known, one)
	}
	if !refused && !all {
		return known
	}
	for i := range checks {
		if c := &checks[i]; denials>>i&1 == 0 {
			c.Verdict = c.Spec.Blind(true, 0)
		}
	}
	return denied
}

// learn remembers what the server denied of a Spend, a Reserve or a Lease that
// was sent at the given instant. What was spent tells something too, if it was the
// last of a budget: the next request is denied. That is worth remembering only where
// requests are denied again and again, or the cache would fill with keys that nobody
// asks for. A denial that had run out, and was not renewed, is forgotten.
func (d *denials) learn(sent int64, spent bool, checks []store.Check) {
	for i := range checks {
		c := &checks[i]
		k := d.key(c.Key)
		set := d.set(k)
		old, found := set.find(k, c.Spec)
		if found && old.spec != c.Spec {
			d.dropKey(sent-1, k)
			found = false
		}
		e := denial{spec: c.Spec, cost: c.Cost, wait: c.MaxWait, verdict: c.Verdict, sent: sent}
		if found && spent && c.Verdict.Allowed && c.Cost > 0 {
			e.verdict, _ = c.Spec.DenialAfter(c.Verdict, c.Cost)
			e.wait = 0
		}
		retry := c.Spec.RetryAfter(e.verdict)
		if retry > 0 && c.Cost > 0 && !denialShares(checks[:i], c) {
			e.until = sent + min(retry, d.maxAge)
			set.put(k, e)
		} else if found && old.until <= sent {
			set.forget(k, old)
		}
	}
}

// denialShares reports whether a check before c takes from the same state. Then c
// was denied beside it, which tells nothing of c alone.
func denialShares(before []store.Check, c *store.Check) bool {
	for i := range before {
		if b := &before[i]; b.Key == c.Key && b.Spec.Shape() == c.Spec.Shape() {
			return true
		}
	}
	return false
}

// drop forgets a key, and all that was asked about it until now and is still to
// be answered. It is called after the server has answered, or failed to answer,
// whatever may have given something back: Refund, Reset, Commit, Cancel, Return.
func (d *denials) drop(now int64, name string) { d.dropKey(now, d.key(name)) }

func (d *denials) dropKey(now int64, k denialKey) { d.set(k).drop(now, k) }

// denial is one entry.
type denial struct {
	spec        *algo.Spec
	cost, wait  int64
	sent, until int64
	verdict     algo.Verdict
}

// covers reports whether e answers whatever o answers.
func (e *denial) covers(o *denial) bool {
	return e.spec == o.spec && e.cost <= o.cost && e.wait >= o.wait && e.until >= o.until
}
