package local

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// expectation says which outcome a case is about.
type expectation int

const (
	allAdmitted expectation = iota
	allDenied
	anyOutcome
)

// speedCase is a case that is measured in nanoseconds per decision.
type speedCase struct {
	name   string
	title  string
	quota  Quota
	expect expectation
	all    bool // on all cores
	keys   int  // zero: one limiter
	zipf   bool
	floor  string            // the floor to compare with
	beside func() Contestant // another floor, if not nil
	// field picks the contestants; nil picks the library's plain limiter and
	// all peers.
	field func(Contestant) bool
}

func singleCases() []speedCase {
	return []speedCase{
		{name: "allowed", title: "one limiter, one goroutine, always allowed", quota: plenty, floor: floorBucket},
		{name: "denied", title: "one limiter, one goroutine, always denied", quota: drained, expect: allDenied, floor: floorBucket},
		{name: "hot-allowed", title: "one limiter on all cores, always allowed", quota: plenty, all: true, floor: floorBucket},
		{name: "hot-denied", title: "one limiter on all cores, always denied", quota: drained, expect: allDenied, all: true, floor: floorBucket},
		{
			name: "coarse", title: "one limiter, one goroutine, coarse clock", quota: plenty, floor: floorCoarse, beside: wordFloor,
			field: func(c Contestant) bool { return c.Name == oursCoarse },
		},
	}
}

func keyedCases(keys int) []speedCase {
	return []speedCase{
		{
			name: "keyed-uniform", title: human(keys) + " keys, uniform, all cores, always allowed",
			quota: roomy, all: true, keys: keys, floor: floorTable,
		},
		{
			name: "keyed-zipf", title: human(keys) + " keys, Zipf 1.1, all cores, always allowed",
			quota: roomy, all: true, keys: keys, zipf: true, floor: floorTable,
		},
	}
}

func growthCases(sizes []int) []speedCase {
	var cs []speedCase
	for _, n := range sizes {
		cs = append(cs, speedCase{
			name: "keys-" + human(n), title: human(n) + " keys, uniform, all cores, always allowed",
			quota: roomy, all: true, keys: n, floor: floorTable,
			field: func(c Contestant) bool { return c.Name == oursPlain },
		})
	}
	return cs
}

// human prints 1000 as 1k and 1000000 as 1M.
func human(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000 && n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}

// takesPart reports whether the contestant enters the case.
func (sc speedCase) takesPart(c Contestant) bool {
	if sc.keys > 0 && c.NewKeyed == nil || sc.keys == 0 && c.NewSingle == nil {
		return false
	}
	if sc.expect == allDenied && (c.Model == Blocking || c.Model == Adaptive) {
		return false
	}
	switch {
	case c.Kind == Floor:
		return c.Name == sc.floor
	case sc.field != nil:
		return sc.field(c)
	}
	return c.Kind == Peer || c.Name == oursPlain
}

// speed runs one case over all contestants that take part.
func (r *Runner) speed(sc speedCase) {
	workers := 1
	if sc.all {
		workers = runtime.GOMAXPROCS(0)
	}
	var seq string
	if sc.keys > 0 {
		seq = r.sequence(sc)
	}
	var es []*entrant
	enter := func(c Contestant) {
		r.say("%s: building %s", sc.name, c.Name)
		es = append(es, sc.enter(c, seq))
	}
	for _, c := range r.contestants {
		if sc.takesPart(c) {
			enter(c)
		}
	}
	if sc.beside != nil {
		enter(sc.beside())
	}
	if len(es) == 0 {
		return
	}
	interleave(es, workers, r.cfg.Rounds, r.cfg.Time, r.rand, func(s string) { r.say("%s: %s", sc.name, s) })
	res := Result{Case: sc.name, Title: sc.title, Unit: "ns/op"}
	for _, e := range es {
		res.Figures = append(res.Figures, r.figureOf(e, sc.expect))
		e.close()
	}
	r.add(res)
}

func (sc speedCase) enter(c Contestant, seq string) *entrant {
	if sc.keys == 0 {
		return singleEntrant(c, sc.quota)
	}
	e := keyedEntrant(c, sc.quota, sc.keys, seq)
	runtime.GC()
	return e
}

// sequence draws the keys of a case. Four draws per key reach nearly all of
// them; four million draws are enough for any number.
func (r *Runner) sequence(sc speedCase) string {
	n := min(max(4*sc.keys, 64*batch), 1<<22)
	rng := rand.New(rand.NewPCG(r.cfg.Seed, uint64(sc.keys)))
	if sc.zipf {
		return zipfSequence(rng, 1.1, sc.keys, n)
	}
	return uniformSequence(rng, sc.keys, n)
}

// figureOf sums an entrant up and says where its outcomes were not those that
// the case is about.
func (r *Runner) figureOf(e *entrant, want expectation) Figure {
	note := e.Note
	if e.keyed {
		note = frame.Join(note, e.KeyedNote)
	}
	total := float64(e.tally.Total())
	remark := func(n int64, what string) {
		if n > 0 {
			note = frame.Join(note, fmt.Sprintf("%s %% %s", frame.Percent(float64(n)/total), what))
		}
	}
	remark(e.tally.Errors, "errors")
	switch want {
	case allAdmitted:
		remark(e.tally.Denied, "denied")
	case allDenied:
		remark(e.tally.Admitted, "admitted")
	case anyOutcome:
		remark(e.tally.Admitted, "admitted")
	}
	v := r.verdict(e.Contestant)
	return Figure{
		Name: e.Name, Kind: e.Kind, Value: frame.Median(e.rounds), Exact: v.Exact,
		Note: frame.Join(note, v.Why), Spans: e.rounds,
	}
}
