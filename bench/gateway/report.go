package gateway

import (
	"fmt"
	"io"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func header(cfg frame.Config, out io.Writer) {
	fmt.Fprintf(out, "## The gateway\n\n%d × %s, %s/%s, %s. Medians of %d interleaved rounds of %v, seed %d; wrk with %d connections. Everything shares the machine.\n\n",
		runtime.NumCPU(), frame.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), cfg.Rounds, cfg.Time, cfg.Seed, connections)
}

// print compares all with the floor, which is the second.
func (l lineup) print(out io.Writer, es []*entrant) {
	floor := es[1]
	fmt.Fprintf(out, "### %s\n\n%s\n\n| | requests/s | × %s | p99 µs | CPU µs/request | wrong | |\n|---|---:|---:|---:|---:|---:|---|\n", l.name, l.says, floor.name)
	for _, e := range es {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.0f | %.1f | %.0f | %s |\n", e.name, e.rate(), frame.Ratio(e.rate(), floor.rate(), true), e.p99(), e.cpu(), e.wrong, e.note)
	}
	fmt.Fprintln(out)
	for _, e := range es {
		fmt.Fprintf(out, "case=%s entrant=%q rps=%.0f floor_ratio=%s sluice_ratio=%s p99_us=%.0f cpu_us=%.2f requests=%.0f wrong=%.0f\n",
			l.name, e.name, e.rate(), frame.Ratio(e.rate(), floor.rate(), true), frame.Ratio(es[0].rate(), e.rate(), true), e.p99(), e.cpu(), e.requests, e.wrong)
	}
	fmt.Fprintln(out)
}
