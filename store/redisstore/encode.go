package redisstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// decision is one Take, or a part of one, on its way to Redis and back.
type decision struct {
	op     store.Op
	checks []store.Check
	denied bool // whatever the checks say: another part of it was denied
	repeat bool // of the decision before it in a call: see encodeBuckets

	hold       int64 // of a member
	rank, live int64 // answer to a beat

	again []bool // answer: the checks that repeat a reservation, nil for none
	known bool   // answered from memory, and not sent
	err   error  // this decision could not be made, though the call was
}

// firm is how many checks, from the first on, can deny the others: those that are
// no shadows. Who stands alone has no others.
func (d *decision) firm() int {
	n := len(d.checks)
	if n > 1 && (d.op == store.Spend || d.op == store.Reserve || d.op == store.Acquire) {
		for n > 0 && d.checks[n-1].Shadow {
			n--
		}
	}
	return n
}

// Operations that only the script knows: a member of a group is alive, or, if the
// hold time is 0, leaves.
const beat = store.Release + 1

// maxChecks is how many checks a Take may have, and mostKeys how many keys a call,
// so that their numbers fit into 16 bits.
const (
	maxChecks = 500
	mostKeys  = 65_535
)

// call is what is sent to Redis: the keys and one argument.
type call struct {
	keys []string
	args []string
}

// Modes of a call: what the script has to be ready for.
const (
	general = iota
	buckets // nothing but requests that ask token buckets of one key, or a window: see one_bucket.lua
	spends  // nothing but Spend, and no logs
)

// encoder packs decisions into one argument: mode, now, the place where the
// decisions begin, the specs, the decisions. Keys and specs that occur more than
// once are sent once. Numbers are doubles, little endian, or small integers.
type encoder struct {
	names *namer
	keys  []string
	index map[string]int // of keys, once they are many
	text  []byte         // mode, now, place, specs
	body  []byte         // the decisions
	specs []*algo.Spec
	at    []int // where in text each spec stands
	rows  []int // the specs of each key, if all are token buckets
}

// encoders are used again, but for what goes into the call: clients may hold that
// longer than the call takes.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// encode packs decisions into one call; a negative now is the server's clock.
func encode(names *namer, now int64, decisions []*decision) (call, error) {
	checks := 0
	for _, d := range decisions {
		checks += len(d.checks)
	}
	if 2*checks > mostKeys {
		return call{}, fmt.Errorf("%d: %w", checks, ErrTooMany)
	}
	e := encoders.Get().(*encoder)
	defer e.done()
	e.names = names
	words := make([]string, 0, checks+1) // room for keys and argument, unless there are reservations
	mode := byte(buckets)
	if e.reset(words); !e.encodeBuckets(decisions) {
		mode = modeOf(decisions)
		e.reset(words)
		e.encodeGeneral(decisions)
	}
	e.text[0] = mode
	binary.LittleEndian.PutUint64(e.text[1:], math.Float64bits(float64(now)))
	binary.LittleEndian.PutUint32(e.text[9:], uint32(len(e.text)+1))
	e.text = append(e.text, e.body...)
	n := len(e.keys)
	words = append(e.keys, string(e.text))
	return call{words[:n:n], words[n:]}, nil
}

// done gives the encoder back.
func (e *encoder) done() {
	e.keys = nil
	clear(e.specs)
	if cap(e.text) <= 64<<10 {
		encoders.Put(e)
	}
}

// reset starts from the beginning.
func (e *encoder) reset(words []string) {
	e.keys, e.index = words, nil
	e.specs, e.at, e.rows, e.body = e.specs[:0], e.at[:0], e.rows[:0], e.body[:0]
	e.text = append(e.text[:0], "mode, now, at"...) // the header, filled in at the end
}

// modeOf tells whether the script needs more than what spends need.
func modeOf(decisions []*decision) byte {
	for _, d := range decisions {
		if d.op != store.Spend {
			return general
		}
		for i := range d.checks {
			if d.checks[i].Spec.Kind == algo.SlidingLog {
				return general
			}
		}
	}
	return spends
}

func (e *encoder) encodeGeneral(decisions []*decision) {
	for _, d := range decisions {
		denied := byte(0)
		if d.denied {
			denied = 1
		}
		e.body = append(e.body, byte(d.op))
		e.put16(len(d.checks))
		e.put16(d.firm())
		e.body = append(e.body, denied, 0, 0, 0, 0)
		start := len(e.body)
		for i := range d.checks {
			e.check(d, &d.checks[i])
		}
		binary.LittleEndian.PutUint32(e.body[start-4:], uint32(len(e.body)-start))
	}
}

// check packs one check: key, spec, cost, the longest wait or the hold time, and
// what its operation needs besides.
func (e *encoder) check(d *decision, c *store.Check) {
	if d.op == beat {
		e.prefix(e.key(e.names.name(members, c.Key, nil)), 0, 0, d.hold)
		e.string(c.ID)
		return
	}
	wait := patience(c)
	if d.op >= store.Acquire {
		wait = c.Hold
	}
	e.prefix(e.key(e.names.state(c.Key, c.Spec)), e.spec(c.Spec), c.Cost, wait)
	switch d.op {
	case store.Reserve:
		e.put(c.Hold)
		e.book(c)
		e.string(c.ID)
	case store.Commit:
		e.book(c)
		e.string(c.ID)
	case store.Reset, store.Refund:
		e.book(c)
	case store.Lease:
		e.put(c.Want)
	case store.Cancel, store.Return:
		e.book(c)
		e.put(c.Now)
		e.mark(c)
	case store.Acquire, store.Renew, store.Release:
		e.string(c.ID)
	}
}

// prefix packs what every check begins with.
func (e *encoder) prefix(key, spec int, cost, wait int64) {
	e.put16(key)
	e.put32(spec)
	e.put(cost)
	e.put(wait)
}

// patience is the longest wait that both the caller and the limit accept.
func patience(c *store.Check) int64 { return max(0, min(c.MaxWait, c.Spec.MaxWait)) }

// book packs the number of the key in which the limit's reservations lie.
func (e *encoder) book(c *store.Check) { e.put16(e.key(e.names.name(reservations, c.Key, c.Spec))) }

func (e *encoder) mark(c *store.Check) {
	e.put(c.Mark.A)
	if c.Spec.Kind == algo.WarmUp {
		e.float(math.Float64frombits(uint64(c.Mark.B)))
	} else {
		e.put(c.Mark.B)
	}
	e.put(c.Mark.C)
}
