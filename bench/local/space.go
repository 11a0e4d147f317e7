package local

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// bytesPerKey measures the live heap that a number of present keys hold, the
// keys' own bytes included where a library keeps them.
func (r *Runner) bytesPerKey() {
	n := r.cfg.keys()
	res := Result{
		Case: "bytes-per-key", Unit: "bytes",
		Title: fmt.Sprintf("live heap per key after a collection, %s keys of %d bytes", human(n), KeyLen),
	}
	for _, c := range r.contestants {
		if c.NewKeyed == nil || c.Kind == Ours && c.Name != oursPlain {
			continue
		}
		r.say("bytes-per-key: %s", c.Name)
		v := r.verdict(c)
		res.Figures = append(res.Figures, Figure{
			Name: c.Name, Kind: c.Kind, Exact: v.Exact, Value: bytesFor(c, n), Note: frame.Join(c.KeyedNote, v.Why),
		})
	}
	r.addIfAny(res)
}

func bytesFor(c Contestant, n int) float64 {
	before := liveHeap()
	k := c.NewKeyed(roomy, n)
	fill(k, n)
	after := liveHeap()
	closeAny(k)
	runtime.KeepAlive(k)
	return float64(after-before) / float64(n)
}

// probe is an operation whose allocations are counted.
type probe struct {
	name string
	run  func(n int)
}

// allocs counts the allocations per decision of every contestant.
func (r *Runner) allocs() {
	res := Result{Case: "allocs", Title: "allocations per decision; ours is the worst of its operations", Unit: "allocs/op"}
	worst, probes := 0.0, []Field(nil)
	for _, p := range oursProbes() {
		a := allocsPer(p.run)
		worst = max(worst, a)
		probes = append(probes, Field{p.name, number(a, true)})
	}
	for _, c := range r.contestants {
		if c.Kind == Ours && c.Name != oursPlain {
			continue
		}
		v := r.verdict(c)
		f := Figure{Name: c.Name, Kind: c.Kind, Exact: v.Exact, Value: contestantAllocs(c), Note: v.Why}
		if c.Kind == Ours {
			f.Value = max(f.Value, worst)
		}
		res.Figures = append(res.Figures, f)
	}
	res.Extra = probes
	r.addIfAny(res)
}

// contestantAllocs is the larger of a contestant's allocations per decision
// with one limiter and with a present key.
func contestantAllocs(c Contestant) (worst float64) {
	if c.NewSingle != nil {
		s := c.NewSingle(plenty)
		worst = allocsPer(func(n int) { s.Run(n) })
		closeAny(s)
	}
	if c.NewKeyed != nil {
		k := c.NewKeyed(roomy, 1)
		worst = max(worst, allocsPer(func(n int) { oneKey{k}.Run(n) }))
		closeAny(k)
	}
	return worst
}

// allocsPer is the number of allocations per operation, the least of three
// attempts, so that the runtime's own are not charged to anybody. What is left
// of them is less than one in a hundred operations and is dropped.
func allocsPer(run func(n int)) float64 {
	const n = 16_384
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	run(n)
	least := uint64(1 << 62)
	for range 3 {
		before := allocations()
		run(n)
		least = min(least, allocations()-before)
	}
	return float64(least*100/n) / 100
}
