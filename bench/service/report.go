package service

import (
	"fmt"
	"io"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func header(cfg frame.Config, out io.Writer) {
	fmt.Fprintf(out, "## Inside a service\n\n%d × %s, %s/%s, %s. Medians of %d interleaved rounds of %v on one goroutine, each told by the quickest tenth of its batches of %d; seed %d.\n\n",
		runtime.NumCPU(), frame.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), cfg.Rounds, cfg.Time, batch, cfg.Seed)
}

func (l lineup) print(out io.Writer, es []*entrant) {
	base := es[0]
	fmt.Fprintf(out, "### %s\n\n%s\n\n| | ns | %s | allocations | |\n|---|---:|---:|---:|---|\n", l.name, l.says, l.column())
	for _, e := range es {
		fmt.Fprintf(out, "| %s | %.0f | %s | %.1f | %s |\n", e.name, e.ns(), l.relation(e, base), e.allocs-l.own(e, base), e.note)
	}
	fmt.Fprintln(out)
	for _, e := range es {
		fmt.Fprintf(out, "case=%s entrant=%q ns=%.1f over=%.1f ratio=%s allocs=%.2f\n",
			l.name, e.name, e.ns(), e.ns()-base.ns(), frame.Ratio(e.ns(), base.ns(), true), e.allocs)
	}
	fmt.Fprintln(out)
}

func (l lineup) column() string {
	if l.over {
		return "added ns"
	}
	return "× first"
}

func (l lineup) relation(e, base *entrant) string {
	switch {
	case l.over && e == base:
		return "-"
	case l.over:
		return fmt.Sprintf("%.0f", e.ns()-base.ns())
	}
	return frame.Ratio(e.ns(), base.ns(), true)
}

// own is how many allocations are not the entrant's, but those of what it is
// measured around.
func (l lineup) own(e, base *entrant) float64 {
	if l.over && e != base {
		return base.allocs
	}
	return 0
}
