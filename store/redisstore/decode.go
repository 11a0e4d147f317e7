package redisstore

import (
	"fmt"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Flags of an answer. Above them stands the window of a log that bound.
const (
	flagAllowed = 1 << iota
	flagNever
	flagWait   // the wait follows
	flagMark   // the mark follows
	flagFault  // the decision could not be made; there is no more of it
	flagRepeat // a reservation that was open already
)

// decoder reads a reply: now, and the answers of all decisions; or a shorter one, see
// decode_buckets.go.
type decoder struct {
	reply []int64
	now   int64
	short bool // the reply ended too early
}

// decode fills in the answers to all decisions. An error means that the reply is
// not that of the script; a decision that could not be made has an error of its own.
func decode(names *namer, reply []int64, decisions []*decision) error {
	d := decoder{reply: reply}
	d.now = d.next()
	if d.now < 0 {
		d.now = -1 - d.now
		d.buckets(decisions)
	} else {
		for _, one := range decisions {
			d.decision(names, one)
		}
	}
	if d.short || len(d.reply) > 0 {
		return fmt.Errorf("%d numbers for %d decisions: %w", len(reply), len(decisions), ErrReply)
	}
	return nil
}

func (d *decoder) next() int64 {
	if len(d.reply) == 0 {
		d.short = true
		return 0
	}
	n := d.reply[0]
	d.reply = d.reply[1:]
	return n
}

func (d *decoder) decision(names *namer, one *decision) {
	for i := range one.checks {
		flags := d.next()
		if flags&flagFault != 0 {
			one.err = faultOf(flags, func(check int) string { return one.name(names, check) })
			return
		}
		c := &one.checks[i]
		switch one.op {
		case store.Spend, store.Reserve, store.Lease, store.Acquire:
			d.verdict(one, c, flags)
			if flags&flagRepeat != 0 {
				one.repeats(i)
			}
		case beat:
			one.rank, one.live = d.next(), d.next()
		default:
			c.Verdict = algo.Verdict{Allowed: flags&flagAllowed != 0}
		}
	}
}

// verdict reads the answer to a check that asked for something.
func (d *decoder) verdict(one *decision, c *store.Check, flags int64) {
	v := algo.Verdict{
		Allowed: flags&flagAllowed != 0,
		Never:   flags&flagNever != 0,
		Window:  uint8(flags >> 8),
		X:       d.next(),
		Y:       d.next(),
	}
	if !v.Allowed || !isBucket(c.Spec) {
		v.Z = d.next()
	}
	if flags&flagWait != 0 {
		v.Wait = d.next()
	}
	if v.Never {
		v.Window = c.Spec.RefusedWindow(c.Cost)
	}
	c.Now, c.Verdict = d.now, v
	switch {
	case flags&flagMark != 0:
		c.Mark = d.mark(c.Spec)
	case flags&(flagAllowed|flagRepeat) == flagAllowed && c.Cost > 0 && isBucket(c.Spec):
		c.Mark = c.Spec.BucketMark(v, d.now)
	}
	if one.op == store.Lease {
		c.Granted = d.next()
	}
}

func (d *decoder) mark(p *algo.Spec) algo.Mark {
	m := algo.Mark{A: d.next(), B: d.next(), C: d.next()}
	if p.Kind == algo.WarmUp { // the bits of a fraction came in two halves
		m.B, m.C = m.B<<32|m.C, 0
	}
	return m
}

func (d *decision) repeats(check int) {
	if d.again == nil {
		d.again = make([]bool, len(d.checks))
	}
	d.again[check] = true
}

// name is the Redis key of a check, for errors.
func (d *decision) name(names *namer, check int) string {
	if check < 0 || check >= len(d.checks) {
		return ""
	}
	c := &d.checks[check]
	if d.op == beat {
		return names.name(members, c.Key, nil)
	}
	return names.state(c.Key, c.Spec)
}

// isBucket tells the limits whose verdict, if it allows, has no Z, and tells the mark.
func isBucket(p *algo.Spec) bool { return p.Kind == algo.TokenBucket || p.Kind == algo.LeakyBucket }
