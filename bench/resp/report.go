package resp

import (
	"fmt"
	"io"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func header(cfg Config, out io.Writer) {
	fmt.Fprintf(out, "## For Redis clients\n\n%d × %s, %s/%s, %s. redis-benchmark, medians of %d interleaved rounds of %d requests, seed %d.\n\n",
		runtime.NumCPU(), frame.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), cfg.Rounds, cfg.Requests, cfg.Seed)
}

func (l *lineup) print(out io.Writer) {
	base := frame.Median(l.entrants[0].rates)
	fmt.Fprintf(out, "### %s\n\n%s\n\n| | requests/s | × first |\n|---|---:|---:|\n", l.name, l.says)
	for _, e := range l.entrants {
		rate := frame.Median(e.rates)
		fmt.Fprintf(out, "| %s | %.0f | %s |\n", e.name, rate, frame.Ratio(rate, base, true))
	}
	fmt.Fprintln(out)
	for _, e := range l.entrants {
		rate := frame.Median(e.rates)
		fmt.Fprintf(out, "case=%s entrant=%q rps=%.0f ratio=%s\n", l.name, e.name, rate, frame.Ratio(rate, base, true))
	}
	fmt.Fprintln(out)
}
