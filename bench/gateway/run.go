package gateway

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// lineup is a case: entrants that are measured together.
type lineup struct {
	name, says string
	refuse     bool
}

func lineups() []lineup {
	return []lineup{
		{"forwarded", "Every request is decided by a limit per address, let through, and answered by the same nginx with 100 bytes.", false},
		{"refused", "Every request is refused by a limit per address.", true},
	}
}

// CaseNames lists the names of all cases.
func CaseNames() []string {
	var names []string
	for _, l := range lineups() {
		names = append(names, l.name)
	}
	return names
}

// Run runs the cases and prints a table of each.
func Run(cfg frame.Config, out, progress io.Writer) error {
	for _, program := range []string{"wrk", "nginx", "haproxy", "caddy"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: make bench-gateway installs it", err)
		}
	}
	dir, err := os.MkdirTemp("", "sluice-bench-gateway-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(progress, "building sluice")
	b := &bench{dir: dir}
	if b.program, err = frame.Build(dir); err != nil {
		return err
	}
	upstream, err := b.start("upstream", "upstream.conf",
		func(address string) string { return upstreamSettings(dir, address) },
		func(file string) []string { return []string{"nginx", "-c", file} })
	if err != nil {
		return err
	}
	defer upstream.process.stop()
	b.upstream = upstream.process.address
	r := rand.New(rand.NewPCG(cfg.Seed, 1))
	header(cfg, out)
	for _, l := range lineups() {
		if !cfg.Runs(l.name) {
			continue
		}
		fmt.Fprintln(progress, "case:", l.name)
		if err := l.run(b, cfg, r, out); err != nil {
			return fmt.Errorf("case %s: %w", l.name, err)
		}
	}
	return nil
}

// run measures one case.
func (l lineup) run(b *bench, cfg frame.Config, r *rand.Rand, out io.Writer) (err error) {
	b.refuse = l.refuse
	es, err := b.enter()
	defer func() {
		for _, e := range es {
			e.process.stop()
		}
	}()
	if err != nil {
		return err
	}
	for _, e := range es {
		if err := b.check(e); err != nil {
			return err
		}
	}
	if err := interleave(es, cfg, r, l.refuse); err != nil {
		return err
	}
	l.print(out, es)
	return nil
}

// enter starts the entrants; sluice is the first, the floor the second. Those that it
// returns run, also if another failed.
func (b *bench) enter() (es []*entrant, err error) {
	add := func(e *entrant, failed error) {
		if failed == nil {
			es = append(es, e)
		}
		err = errors.Join(err, failed)
	}
	if add(b.sluice()); err != nil {
		return es, err
	}
	if b.refuse {
		file, err := b.refusal(es[0].process.address)
		if err != nil {
			return es, err
		}
		add(b.bare("bare handler", bareRefusalVariable, file))
	} else {
		add(b.bare("bare proxy", bareProxyVariable, "http://"+b.upstream))
	}
	add(b.nginx())
	add(b.haproxy())
	add(b.caddy())
	return es, err
}

// interleave measures the entrants round by round, after one that only warms up.
func interleave(es []*entrant, cfg frame.Config, r *rand.Rand, refuse bool) error {
	order := slices.Clone(es)
	for n := range cfg.Rounds + 1 {
		length := cfg.Time
		if n == 0 {
			length = time.Second
		}
		for _, e := range order {
			if err := e.measure(length, n > 0, refuse); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	}
	return nil
}

// measure runs one round.
func (e *entrant) measure(length time.Duration, counts, refuse bool) error {
	before := e.process.cpu()
	r, err := load(e.process.address, length)
	if err != nil || !counts {
		return err
	}
	e.rates, e.p99s = append(e.rates, r.rate), append(e.p99s, r.p99)
	e.cpus = append(e.cpus, float64((e.process.cpu()-before)/time.Microsecond)/r.requests)
	e.requests += r.requests
	e.wrong += r.errors + r.refused
	if refuse {
		e.wrong += r.requests - 2*r.refused
	}
	return nil
}
