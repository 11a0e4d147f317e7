package local

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Config says what to run.
type Config struct {
	frame.Config
	Peers *regexp.Regexp // nil: all; ours and the floors always run
	Quick bool           // smaller and shorter, to see that everything works
}

// keys is the number of keys of the keyed cases.
func (c Config) keys() int {
	if c.Quick {
		return 100_000
	}
	return 1_000_000
}

func (c Config) sizes() []int {
	if c.Quick {
		return []int{1_000, 10_000, 100_000}
	}
	return []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000}
}

// Runner runs cases and gathers their results.
type Runner struct {
	cfg         Config
	out         io.Writer
	progress    io.Writer
	rand        *rand.Rand
	contestants []Contestant
	verdicts    map[string]Verdict
	report      Report
}

// Report is everything that a run has found.
type Report struct {
	Machine Machine  `json:"machine"`
	Seed    uint64   `json:"seed"`
	Quick   bool     `json:"quick,omitempty"`
	Checks  []Check  `json:"checks"`
	Results []Result `json:"results"`
}

// job is a case that can be picked by name.
type job struct {
	name string
	// peers says that the case compares with peers, whose exactness must be
	// known.
	peers bool
	run   func(*Runner)
}

// jobs lists all cases in their order.
func jobs(cfg Config) []job {
	var js []job
	speed := func(cs []speedCase, peers bool) {
		for _, sc := range cs {
			js = append(js, job{sc.name, peers && sc.field == nil, func(r *Runner) { r.speed(sc) }})
		}
	}
	speed(singleCases(), true)
	speed(keyedCases(cfg.keys()), true)
	for _, name := range algorithmCases() {
		js = append(js, job{name, false, func(*Runner) {}})
	}
	speed(growthCases(cfg.sizes()), false)
	return append(js,
		job{"allocs", true, (*Runner).allocs},
		job{"bytes-per-key", true, (*Runner).bytesPerKey},
		job{"flood", false, (*Runner).flood},
		job{"exact", false, (*Runner).exact})
}

// CaseNames lists the names of all cases.
func CaseNames(cfg Config) []string {
	var names []string
	for _, j := range jobs(cfg) {
		names = append(names, j.name)
	}
	return names
}

// Run runs the cases of the configuration. Tables go to out as they are ready,
// the lines for scripts at the end; progress is told on the other writer.
func Run(cfg Config, out, progress io.Writer) Report {
	r := &Runner{
		cfg: cfg, out: out, progress: progress,
		rand:     rand.New(rand.NewPCG(cfg.Seed, 1)),
		verdicts: map[string]Verdict{},
	}
	for _, c := range Contestants() {
		if c.Kind != Peer || cfg.Peers == nil || cfg.Peers.MatchString(c.Name) {
			r.contestants = append(r.contestants, c)
		}
	}
	r.header()
	picked := slices.DeleteFunc(jobs(cfg), func(j job) bool {
		return !cfg.Runs(j.name)
	})
	if slices.ContainsFunc(picked, func(j job) bool { return j.peers }) {
		r.checkAll()
	}
	r.runAll(picked)
	for _, res := range r.report.Results {
		fmt.Fprintln(out, res.Line())
	}
	return r.report
}

// runAll runs the picked cases. The other algorithms share one lineup, so they
// run together, when the first of them has its turn.
func (r *Runner) runAll(picked []job) {
	var algorithms []string
	for _, j := range picked {
		if slices.Contains(algorithmCases(), j.name) {
			algorithms = append(algorithms, j.name)
		}
	}
	for _, j := range picked {
		if len(algorithms) > 0 && j.name == algorithms[0] {
			r.algorithms(algorithms)
			continue
		}
		j.run(r)
	}
}

func (r *Runner) header() {
	r.report.Seed, r.report.Quick = r.cfg.Seed, r.cfg.Quick
	r.report.Machine = thisMachine(r.contestants)
	fmt.Fprint(r.out, "## In process\n\n")
	r.report.Machine.write(r.out, r.contestants)
	fmt.Fprintf(r.out, "Medians of %d interleaved rounds of %v, order shuffled with seed %d. "+
		"Parallel figures are wall time over all operations.\n\n", r.cfg.Rounds, r.cfg.Time, r.cfg.Seed)
	if r.cfg.Quick {
		fmt.Fprint(r.out, "A quick run with fewer keys and short rounds: its figures mean little.\n\n")
	}
}

// checkAll finds out which contestants keep the limit.
func (r *Runner) checkAll() {
	for _, c := range r.contestants {
		if c.NewSingle == nil || c.Doubt == lags {
			continue
		}
		r.say("exactness: %s", c.Name)
		ch := check(c, r.cfg.Quick)
		r.verdicts[c.Name] = ch.Verdict
		r.report.Checks = append(r.report.Checks, ch)
	}
	writeChecks(r.out, r.report.Checks)
}

// verdict is the outcome of the check of a contestant, or what is known of it
// without one.
func (r *Runner) verdict(c Contestant) Verdict {
	for _, name := range []string{c.Name, c.Like} {
		if v, ok := r.verdicts[name]; ok {
			return v
		}
	}
	return Verdict{Exact: c.Doubt == "", Why: c.Doubt}
}

func (r *Runner) find(name string) (Contestant, bool) {
	i := slices.IndexFunc(r.contestants, func(c Contestant) bool { return c.Name == name })
	if i < 0 {
		return Contestant{}, false
	}
	return r.contestants[i], true
}

func (r *Runner) add(res Result) {
	r.report.Results = append(r.report.Results, res)
	res.Table(r.out)
	fmt.Fprintln(r.out)
}

func (r *Runner) addIfAny(res Result) {
	if len(res.Figures) > 0 {
		r.add(res)
	}
}

func (r *Runner) say(format string, args ...any) {
	fmt.Fprintf(r.progress, format+"\n", args...)
}

// WriteJSON writes the report for programs.
func (rep Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rep)
}
