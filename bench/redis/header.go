package redis

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// header prints where and how the run takes place.
func (r *Runner) header() {
	fmt.Fprintf(r.out, "## Over Redis\n\n%s, %d × %s, %s/%s, %s, Redis %s on the same machine over loopback.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOMAXPROCS(0), cpuModel(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), r.server.version())
	fmt.Fprintf(r.out, "With: %s.\n\n", strings.Join(versions(r.contestants), ", "))
	fmt.Fprintf(r.out, "Medians of %d interleaved rounds of %v, order shuffled with seed %d.\n\n",
		r.cfg.Rounds, r.cfg.Time, r.cfg.Seed)
}

// versions lists the modules of the contestants as they were linked in.
func versions(cs []Contestant) []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	want := map[string]bool{}
	for _, c := range cs {
		want[c.Module] = true
	}
	var out []string
	for _, m := range info.Deps {
		if want[m.Path] && m.Replace == nil {
			out = append(out, m.Path+" "+m.Version)
		}
	}
	return out
}

func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "\t :"))
		}
	}
	return "unknown processor"
}
