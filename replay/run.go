package replay

import (
	"iter"
	"math"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// DefaultSample is over how many requests the answers of all spreads are compared.
const DefaultSample = 250_000

// DefaultTop is how many keys a report lists.
const DefaultTop = 20

// Options set up Run.
type Options struct {
	Spread Spread // empty means SpreadStart
	Seed   uint64 // of SpreadRandom

	// Sample is over how many requests the answers of all spreads are compared: 0 means
	// DefaultSample, less than 0 none. It costs two more decisions for each of them.
	Sample int64
	Top    int // how many keys the report lists; 0 means DefaultTop

	// Other are rules to compare with: the report tells who would be newly refused by
	// them, and who no longer.
	Other *rule.Set

	// Decided is told of every decision, and must not keep what it is given.
	Decided func(at int64, e *accesslog.Entry, d *engine.Event)
}

// Run decides entries, which come in the order of time, by the rules of set, with fresh
// budgets, and reports what happened. What a log tells of its lines is for the caller to
// add: see [Report.Counted].
func Run(set *rule.Set, entries iter.Seq[*accesslog.Entry], o Options) (*Report, error) {
	r, err := newRunner(set, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	for e := range entries {
		if err := r.decide(e); err != nil {
			return nil, err
		}
	}
	return r.report(), nil
}

// runner is a replay that goes on.
type runner struct {
	set    *rule.Set
	opts   Options
	player *Player // nil before the first request
	spread *spreader
	others []*trial // other spreads
	rival  *rival   // other rules

	translate Translator
	entry     *accesslog.Entry // that is decided
	blame     blame            // who refused it, for comparisons
	start     int64            // the full hour before the first request, in µs since 1970
	first     int64
	accounts  []*account
	agents    agents
	peaks     peakCounter
	memory    Memory

	requests, denied, shadow, waited, noRule, errors, coarse int64
	failure                                                  error
}

// trial decides the first requests by another spread.
type trial struct {
	spread *spreader
	player *Player
	denied int64
}

func newRunner(set *rule.Set, o Options) (*runner, error) {
	var err error
	if o.Spread, err = ParseSpread(string(o.Spread)); err != nil {
		return nil, err
	}
	if o.Sample == 0 {
		o.Sample = DefaultSample
	}
	if o.Top <= 0 {
		o.Top = DefaultTop
	}
	r := &runner{set: set, opts: o, spread: newSpreader(o.Spread, o.Seed)}
	if set != nil {
		r.translate.pathless = o.Decided == nil && !looksAtPaths(set) && (o.Other == nil || !looksAtPaths(o.Other))
		for _, c := range set.Rules() {
			r.accounts = append(r.accounts, newAccount(c))
		}
	}
	return r, r.begin(0) // tells of rules that cannot be run before a log is read
}

// begin makes the players, whose clocks start at an instant.
func (r *runner) begin(at int64) (err error) {
	if r.player, err = NewPlayer(r.set, at, r); err != nil {
		return err
	}
	r.first, r.start = at, at-at%3600e6
	for _, s := range Spreads {
		if r.opts.Sample < 0 {
			break
		}
		t := &trial{spread: newSpreader(s, r.opts.Seed)}
		if s != r.opts.Spread {
			if t.player, err = NewPlayer(r.set, at); err != nil {
				return err
			}
		}
		r.others = append(r.others, t)
	}
	if r.opts.Other != nil {
		r.rival, err = newRival(r.opts.Other, at)
	}
	return err
}

// decide decides the next entry.
func (r *runner) decide(e *accesslog.Entry) error {
	if r.requests == 0 {
		r.close()
		r.others, r.rival = nil, nil
		if err := r.begin(e.Time); err != nil {
			return err
		}
	}
	r.requests++
	if e.Coarse {
		r.coarse++
	}
	request := r.translate.Request(e)
	r.entry = e
	d, err := r.player.Decide(r.spread.instant(e), request)
	if err != nil {
		r.fail(err)
	}
	r.peaks.touch(r.second(r.player.now))
	if r.requests%weighEvery == 0 {
		r.weigh()
	}
	if r.requests <= r.opts.Sample {
		r.try(e, request, &d)
	} else if r.requests == r.opts.Sample+1 {
		r.release()
	}
	if r.rival != nil {
		r.rival.decide(r, request, &d)
	}
	return nil
}

// second returns the second of an instant since the start. A wrong stamp may lie further
// away than can be told.
func (r *runner) second(at int64) uint32 {
	return uint32(min((at-r.start)/1e6, math.MaxUint32))
}

// weighEvery is after how many requests the memory is looked at.
const weighEvery = 1 << 12

// weigh takes note of the memory if it was never as much.
func (r *runner) weigh() {
	now := r.player.Memory()
	r.memory = Memory{Keys: max(r.memory.Keys, now.Keys), Bytes: max(r.memory.Bytes, now.Bytes), Forgotten: now.Forgotten}
}

// try decides a request by the other spreads too.
func (r *runner) try(e *accesslog.Entry, request *rule.Request, d *engine.Decision) {
	for _, t := range r.others {
		said := *d
		if t.player != nil {
			said, _ = t.player.Decide(t.spread.instant(e), request) // the first player told the error
		}
		if refuses(&said) {
			t.denied++
		}
	}
}

// release gives back the memory of the other spreads.
func (r *runner) release() {
	for _, t := range r.others {
		if t.player != nil {
			_ = t.player.Close() // nothing remote is behind it
			t.player = nil
		}
	}
}

// refuses reports whether a request is refused, or would be by a rule in shadow.
func refuses(d *engine.Decision) bool { return !d.Allowed || d.Shadow }

func (r *runner) fail(err error) {
	if r.errors++; r.failure == nil {
		r.failure = err
	}
}

// Observe implements engine.Observer.
func (r *runner) Observe(ev *engine.Event) {
	d := &ev.Decision
	switch {
	case ev.Err != nil: // decide counts it
	case !d.Allowed:
		r.denied++
	case d.Shadow:
		r.shadow++
	}
	if d.Allowed && d.Wait() > 0 {
		r.waited++
	}
	if len(ev.Outcomes) == 0 {
		r.noRule++
	}
	now := r.player.now
	for i := range ev.Outcomes {
		o := &ev.Outcomes[i]
		r.accounts[o.Rule.Index].observe(o, r.entry, r, now)
	}
	if r.rival != nil {
		r.blame.note(ev)
	}
	if r.opts.Decided != nil {
		r.opts.Decided(now, r.entry, ev)
	}
}

// close ends the players.
func (r *runner) close() {
	r.release()
	if r.player != nil { // else it could not be made
		_ = r.player.Close()
	}
	if r.rival != nil && r.rival.player != nil {
		_ = r.rival.player.Close()
	}
}
