package engine

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// RecentSize is how many refusals an engine remembers.
const RecentSize = 1024

// Record is a refusal that is remembered. Its texts are ready to be printed: long ones
// are cut, and control characters and bytes that are not UTF-8 are written as escapes,
// so that no client can forge lines of a log.
type Record struct {
	Time       time.Time
	Shadow     bool         // it was let through, but by Rule it would have been refused
	Rule       string       // that refused; empty if none is to blame
	Limit      string       // its name
	Amount     sluice.Limit // how much it admits; zero if none is to blame
	Cost       int64        // that was asked for by Rule
	Remaining  int64        // what the limit had left
	Key        string       // as it is among those of its rule
	Method     string
	Path       string // in canonical form
	Reason     sluice.Reason
	RetryAfter time.Duration
}

// Recent returns the last n refusals and shadow refusals, newest first, at most
// RecentSize.
func (e *Engine) Recent(n int) []Record { return e.watch.recent(n) }

func (w *watch) recent(n int) []Record {
	slots := w.recents.slots.Load()
	if slots == nil || n <= 0 {
		return nil
	}
	last := w.recents.next.Load()
	var records []Record
	for i := last; i > 0 && last-i < uint64(min(n, RecentSize)); i-- {
		s := &slots[(i-1)%RecentSize]
		s.mu.Lock()
		k := s.kept
		s.mu.Unlock()
		if k.number == i { // else a newer one stands here, or this one is not written yet
			records = append(records, k.record(w.clock.Time(k.at)))
		}
	}
	return records
}

// recents is a ring. Writers meet only at next, and in a slot if one is a whole round
// behind.
type recents struct {
	next  atomic.Uint64
	slots atomic.Pointer[[RecentSize]recentSlot] // made by the first refusal: half a megabyte
}

type recentSlot struct {
	mu sync.Mutex
	kept
}

// kept is a refusal in its slot: no memory of the request, which others use next.
type kept struct {
	number uint64 // counted from 1
	at     int64
	shadow bool
	rule   *rule.Compiled
	limit  string
	said   sluice.Decision
	cost   int64
	key    span
	method span
	path   span
	text   [maxText]byte
}

// span is where a text of a refusal lies.
type span struct {
	from, to uint16
	cut      bool
}

// How much of the texts of a refusal is kept.
const (
	maxKeyText    = 96
	maxMethodText = 16
	maxPathText   = 160
	maxText       = maxKeyText + maxMethodText + maxPathText
)

// add keeps a denial, or else every rule that would have refused.
func (r *recents) add(e *Event, now int64) {
	if !e.Decision.Allowed {
		r.put(e, blamed(e), now)
		return
	}
	none := true
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; !o.Allowed {
			r.put(e, o, now)
			none = false
		}
	}
	if none {
		r.put(e, nil, now)
	}
}

// blamed returns what the rule said that the denial speaks of, or nil.
func blamed(e *Event) *Outcome {
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; o.Rule == e.Decision.Rule {
			return o
		}
	}
	return nil
}

func (r *recents) put(e *Event, o *Outcome, now int64) {
	slots := r.slots.Load()
	if slots == nil {
		r.slots.CompareAndSwap(nil, new([RecentSize]recentSlot))
		slots = r.slots.Load()
	}
	number := r.next.Add(1)
	s := &slots[(number-1)%RecentSize]
	s.mu.Lock()
	if s.number < number { // else a writer who came a round later was quicker
		s.fill(e, o)
		s.number, s.at = number, now
	}
	s.mu.Unlock()
}

// fill takes everything from an event but its number and time. o may be nil.
func (k *kept) fill(e *Event, o *Outcome) {
	d := &e.Decision
	k.shadow, k.rule, k.limit, k.said = d.Allowed, d.Rule, d.LimitName, d.Decision
	if k.shadow {
		k.limit, k.said = "", sluice.Decision{Reason: e.spared}
	}
	key := ""
	k.cost = 0
	if o != nil {
		k.rule, k.cost, key = o.Rule, o.Cost, ownKey(o)
	}
	if k.shadow && o != nil {
		k.blame(o)
	}
	method, path := "", e.Path
	if e.Request != nil {
		method = e.Request.Method
		if path == "" {
			path = e.Request.Path
		}
	}
	k.key = k.keep(0, maxKeyText, key)
	k.method = k.keep(k.key.to, maxMethodText, method)
	k.path = k.keep(k.method.to, maxPathText, path)
}

// blame takes the limit from a rule that would have refused.
func (k *kept) blame(o *Outcome) {
	if o.denial != nil {
		k.limit, k.said = o.denial.limit, o.denial.Decision
		return
	}
	k.said.Reason = o.Reason()
}

// keep copies at most so many bytes of a text.
func (k *kept) keep(from uint16, most int, text string) span {
	n := copy(k.text[from:int(from)+most], text)
	return span{from, from + uint16(n), n < len(text)}
}

func (k *kept) record(at time.Time) Record {
	r := Record{
		Time:       at,
		Shadow:     k.shadow,
		Limit:      k.limit,
		Amount:     k.said.Limit(),
		Cost:       k.cost,
		Remaining:  k.said.Remaining(),
		Key:        k.print(k.key),
		Method:     k.print(k.method),
		Path:       k.print(k.path),
		Reason:     k.said.Reason,
		RetryAfter: k.said.RetryAfter(),
	}
	if k.rule != nil {
		r.Rule = k.rule.Name
	}
	return r
}

func (k *kept) print(s span) string { return printable(string(k.text[s.from:s.to]), s.cut) }

// printable returns a text that does no harm in a log or at a terminal, with a mark
// at its end if it is cut.
func printable(text string, cut bool) string {
	safe := make([]byte, 0, len(text)+len("…"))
	if cut {
		text = text[:len(text)-torn(text)]
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			safe = append(safe, '\\', 'x', "0123456789abcdef"[text[0]>>4], "0123456789abcdef"[text[0]&15])
		case strconv.IsPrint(r):
			safe = append(safe, text[:size]...)
		default:
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			safe = append(safe, quoted[1:len(quoted)-1]...)
		}
		text = text[size:]
	}
	if cut {
		safe = append(safe, "…"...)
	}
	return string(safe)
}

// torn returns how many bytes at the end of a text are the beginning of a character.
func torn(text string) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if end := text[len(text)-i:]; utf8.RuneStart(end[0]) {
			if utf8.FullRuneInString(end) {
				return 0
			}
			return i
		}
	}
	return 0
}
