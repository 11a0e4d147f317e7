package redis

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// header prints where and how the run takes place.
func (r *Runner) header() {
	fmt.Fprintf(r.out, "## Over Redis\n\n%s, %d × %s, %s/%s, %s, Redis %s on the same machine over loopback.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOMAXPROCS(0), frame.CPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), r.server.version())
	fmt.Fprintf(r.out, "With: %s.\n\n", strings.Join(versions(r.contestants), ", "))
	fmt.Fprintf(r.out, "Medians of %d interleaved rounds of %v, order shuffled with seed %d.\n\n",
		r.cfg.Rounds, r.cfg.Time, r.cfg.Seed)
}

// versions lists the modules of the contestants as they were linked in.
func versions(cs []Contestant) []string {
	var modules, out []string
	for _, c := range cs {
		modules = append(modules, c.Module)
	}
	for path, version := range frame.Versions(modules) {
		out = append(out, path+" "+version)
	}
	slices.Sort(out)
	return out
}
