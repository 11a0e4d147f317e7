package rls

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

func header(cfg Config, out io.Writer) {
	fmt.Fprintf(out, "## Envoy's rate-limit service\n\n%d processors, %s/%s, %s. Medians of %d interleaved rounds of %v, seed %d. Servers, Redis and load share the machine.\n\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), cfg.Rounds, cfg.Time, cfg.Seed)
}

// print compares all with the first entrant.
func (l lineup) print(out io.Writer, entrants []*entrant) {
	base := entrants[0].rate()
	fmt.Fprintf(out, "### %s\n\n%s %d callers on %d connections.\n\n| | requests/s | × no-op | p50 µs | p99 µs | refused | errors |\n|---|---:|---:|---:|---:|---:|---:|\n", l.name, l.says, l.load.callers, l.load.connections)
	for _, e := range entrants {
		fmt.Fprintf(out, "| %s | %.0f | %.2f | %d | %d | %.0f %% | %d |\n", e.name, e.rate(), e.rate()/base, e.p50().Microseconds(), e.p99().Microseconds(), 100*e.over(), e.errors())
	}
	fmt.Fprintln(out)
	for _, e := range entrants {
		fmt.Fprintf(out, "case=%s entrant=%q rps=%.0f ratio=%.2f p50_us=%d p99_us=%d over=%.3f errors=%d\n", l.name, e.name, e.rate(), e.rate()/base, e.p50().Microseconds(), e.p99().Microseconds(), e.over(), e.errors())
	}
	fmt.Fprintln(out)
}

func (e *entrant) rate() float64 { return median(e.rounds, func(r round) float64 { return r.rate }) }

func (e *entrant) p50() time.Duration {
	return time.Duration(median(e.rounds, func(r round) float64 { return float64(r.p50) }))
}

func (e *entrant) p99() time.Duration {
	return time.Duration(median(e.rounds, func(r round) float64 { return float64(r.p99) }))
}

func (e *entrant) over() float64 { return median(e.rounds, func(r round) float64 { return r.over }) }

func (e *entrant) errors() (n int64) {
	for _, r := range e.rounds {
		n += r.errors
	}
	return n
}

// median is the middle of a figure of all rounds.
func median(rounds []round, of func(round) float64) float64 {
	var all []float64
	for _, r := range rounds {
		all = append(all, of(r))
	}
	if slices.Sort(all); len(all) == 0 {
		return 0
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
