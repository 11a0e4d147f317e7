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
	floor func(q Quota, keys int) Keyed // nil: its state is a few words, and the flat table's is the floor
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
// bucket and the floors, all in the same rounds.
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
	for _, a := range oursAlgorithms() {
		name := algorithmPrefix + a.name
		if !contains(names, name) {
			continue
		}
		enter(Contestant{Name: name, Kind: Ours, NewKeyed: a.build}, a.quota)
		if a.floor != nil {
			enter(Contestant{Name: floorStates, Kind: Floor, NewKeyed: a.floor}, a.quota)
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

// addAlgorithms makes a result of each algorithm: its figure, its floor, which
// stands behind it unless it is the flat table, and the token bucket of the same
// rounds.
func (r *Runner) addAlgorithms(es []*entrant) {
	bucket, table := r.figureOf(es[0], allAdmitted), r.figureOf(es[1], allAdmitted)
	for i, e := range es {
		if i < 2 || e.Kind == Floor {
			continue
		}
		f, floors := r.figureOf(e, anyOutcome), []Figure{table}
		if i+1 < len(es) && es[i+1].Kind == Floor {
			floors = []Figure{r.figureOf(es[i+1], anyOutcome), table}
		}
		r.add(Result{
			Case: e.Name, Title: human(r.cfg.keys()) + " keys, uniform, all cores", Unit: "ns/op",
			Figures: append([]Figure{f}, floors...),
			Extra: []Field{
				{"token_bucket", number(bucket.Value, true)},
				{"ours/token_bucket", frame.Ratio(f.Value, bucket.Value, true)},
				{"floor/token_bucket", frame.Ratio(floors[0].Value, bucket.Value, true)},
			},
		})
	}
	for _, e := range es {
		e.close()
	}
}
