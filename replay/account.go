package replay

import (
	"strings"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// account is what is counted of one rule.
type account struct {
	rule      *rule.Compiled
	requests  int64
	denied    int64
	candidate int64
	first     int64
	last      int64

	keys     *keyTable
	denials  [][]denialRecord
	refused  int // keys that were
	limits   []string
	timeline timeline
	worst    worst
}

// denialRecord is what is known of a key that was refused. Times are in µs since 1970.
type denialRecord struct {
	denied      uint32
	agent       uint32
	limit       uint8
	reason      sluice.Reason
	good        bool
	first, last int64
	since       int64 // the first of the refusals that go on; 0 if it was allowed since
	longest     int64
	longestFrom int64
}

func newAccount(c *rule.Compiled) *account { return &account{rule: c, keys: newKeyTable()} }

// observe counts what the rule said to a request at the instant now.
func (a *account) observe(o *engine.Outcome, e *accesslog.Entry, r *runner, now int64) {
	second := r.second(now)
	denied := !o.Allowed
	a.requests++
	a.timeline.touch(second, denied)
	a.worst.touch(second, r.start, denied)
	if o.Candidate == engine.CandidateDenies {
		a.candidate++
	}
	if denied {
		a.denied++
		if a.last = now; a.first == 0 {
			a.first = now
		}
	}
	if o.Key == "" {
		return
	}
	k := a.keys.find(a.keyText(o.Key))
	k.touch(second)
	if denied {
		a.deny(k, o, e, r, now)
	} else if k.denial != 0 {
		a.denial(k).since = 0
	}
}

// keyText returns a key without the name of the rule, which all share.
func (a *account) keyText(key string) string {
	if name := a.rule.Name; len(key) > len(name) && key[len(name)] == '|' && strings.HasPrefix(key, name) {
		return key[len(name)+1:]
	}
	return key
}

// deny counts a refusal of a key.
func (a *account) deny(k *keyRecord, o *engine.Outcome, e *accesslog.Entry, r *runner, now int64) {
	d := a.denial(k)
	agent := r.agents.number(e.Agent)
	if d.denied == 0 {
		d.first, d.agent, d.reason, d.limit = now, agent, o.Reason(), a.limit(o.Limit())
		d.good = r.agents.good(agent, e.Agent)
	}
	d.good = d.good || e.User != ""
	d.denied++
	d.last = now
	if d.since == 0 {
		d.since = now
	}
	if length := now - d.since; length > d.longest || d.denied == 1 {
		d.longest, d.longestFrom = length, d.since
	}
}

// denial returns the record of a key's refusals, a fresh one if there is none.
func (a *account) denial(k *keyRecord) *denialRecord {
	if k.denial == 0 {
		if a.refused%recordChunk == 0 {
			a.denials = append(a.denials, make([]denialRecord, recordChunk))
		}
		a.refused++
		k.denial = uint32(a.refused)
	}
	i := int(k.denial - 1)
	return &a.denials[i/recordChunk][i%recordChunk]
}

// limit returns the number of a limit's name.
func (a *account) limit(name string) uint8 {
	for i, known := range a.limits {
		if known == name {
			return uint8(i)
		}
	}
	if len(a.limits) < 255 {
		a.limits = append(a.limits, strings.Clone(name))
	}
	return uint8(len(a.limits) - 1)
}
