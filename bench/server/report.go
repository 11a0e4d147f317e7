package server

import (
	"fmt"
	"io"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func header(cfg frame.Config, out io.Writer) {
	fmt.Fprintf(out, "## The server\n\n%d × %s, %s/%s, %s. Medians of %d interleaved rounds of %v, seed %d. Servers and load share the machine.\n\n",
		runtime.NumCPU(), frame.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), cfg.Rounds, cfg.Time, cfg.Seed)
}

// print compares all with the first entrant.
func (l lineup) print(out io.Writer, es []*entrant) {
	base := es[0]
	fmt.Fprintf(out, "### %s\n\n%s\n\n| | decisions/s | × no-op | p99 µs | × no-op | CPU µs/request | × no-op | errors | MiB before → after |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n", l.name, l.says)
	for _, e := range es {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.0f | %s | %.1f | %s | %d | %d → %d |\n", e.name, e.rate()*float64(l.batch), frame.Ratio(e.rate(), base.rate(), true),
			e.p99(), frame.Ratio(e.p99(), base.p99(), true), e.cpu(), frame.Ratio(e.cpu(), base.cpu(), e.server != nil), e.errors, e.before>>20, e.after>>20)
	}
	fmt.Fprintln(out)
	for _, e := range es {
		fmt.Fprintf(out, "case=%s entrant=%q rps=%.0f decisions=%.0f ratio=%s p99_us=%.0f p99_ratio=%s cpu_us=%.2f cpu_ratio=%s errors=%d rss_before=%d rss_after=%d\n",
			l.name, e.name, e.rate(), e.rate()*float64(l.batch), frame.Ratio(e.rate(), base.rate(), true), e.p99(), frame.Ratio(e.p99(), base.p99(), true),
			e.cpu(), frame.Ratio(e.cpu(), base.cpu(), e.server != nil), e.errors, e.before, e.after)
	}
	if l.redis {
		smaller := min(base.rate(), es[len(es)-1].rate())
		for _, e := range es[1 : len(es)-1] {
			fmt.Fprintf(out, "case=%s entrant=%q over_smaller=%s\n", l.name, e.name, frame.Ratio(e.rate(), smaller, true))
		}
	}
	fmt.Fprintln(out)
}
