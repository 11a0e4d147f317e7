package local

import (
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// algorithm is one of the library's algorithms in the keyed case.
type algorithm struct {
	name  string
	quota Quota // suited to the algorithm: it admits what the case asks
	build func(q Quota, keys int) Keyed
}

const algorithmPrefix = "algo-"

func algorithmCases() []string {
	var names []string
	for _, a := range oursAlgorithms() {
		names = append(names, algorithmPrefix+a.name)
	}
	return names
}

// algorithms measures the library's other algorithms beside its own token
// bucket and the flat table, all in the same rounds.
func (r *Runner) algorithms(names []string) {
	keys := r.cfg.keys()
	sc := speedCase{name: "algo", quota: roomy, keys: keys, all: true, floor: floorTable}
	seq := r.sequence(sc)
	var es []*entrant
	enter := func(c Contestant, q Quota) {
		r.say("algo: building %s", c.Name)
		es = append(es, keyedEntrant(c, q, keys, seq))
		runtime.GC()
	}
	for _, name := range []string{oursPlain, floorTable} {
		if c, ok := r.find(name); ok {
			enter(c, roomy)
		}
	}
	enter(cellsFloor(), roomy)
	for _, a := range oursAlgorithms() {
		if name := algorithmPrefix + a.name; contains(names, name) {
			enter(Contestant{Name: name, Kind: Ours, NewKeyed: a.build}, a.quota)
		}
	}
	interleave(es, runtime.GOMAXPROCS(0), r.cfg.Rounds, r.cfg.Time, r.rand, func(s string) { r.say("algo: %s", s) })
	r.addAlgorithms(es)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// addAlgorithms makes a result of each algorithm: its figure, the floor, and
// the token bucket of the same rounds.
func (r *Runner) addAlgorithms(es []*entrant) {
	bucket, floor := r.figureOf(es[0], allAdmitted), r.figureOf(es[1], allAdmitted)
	cells := r.figureOf(es[2], allAdmitted)
	for _, e := range es[3:] {
		f := r.figureOf(e, anyOutcome)
		r.add(Result{
			Case: e.Name, Title: human(r.cfg.keys()) + " keys, uniform, all cores", Unit: "ns/op",
			Figures: []Figure{f, floor, cells},
			Extra: []Field{
				{"token_bucket", number(bucket.Value, true)},
				{"ours/token_bucket", frame.Ratio(f.Value, bucket.Value, true)},
			},
		})
	}
	for _, e := range es {
		e.close()
	}
}
