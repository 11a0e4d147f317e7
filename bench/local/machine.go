package local

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Machine describes where a run took place.
type Machine struct {
	Date     string            `json:"date"`
	Go       string            `json:"go"`
	OS       string            `json:"os"`
	CPU      string            `json:"cpu"`
	Procs    int               `json:"procs"`
	Clock    map[string]string `json:"clock"`
	Versions map[string]string `json:"versions"`
}

func thisMachine(cs []Contestant) Machine {
	return Machine{
		Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, CPU: frame.CPU(), Procs: runtime.GOMAXPROCS(0),
		Clock: clockCosts(), Versions: frame.Versions(modules(cs)),
	}
}

// write prints the header.
func (m Machine) write(w io.Writer, cs []Contestant) {
	fmt.Fprintf(w, "%s, %d × %s, %s, %s.\n", m.Date, m.Procs, m.CPU, m.OS, m.Go)
	fmt.Fprintf(w, "A clock read costs %s ns by time.Since, %s ns by time.Now.\n\n", m.Clock["since"], m.Clock["now"])
	var names []string
	seen := map[string]bool{}
	for _, c := range cs {
		if v := m.Versions[c.Module]; v != "" && !seen[c.Module] {
			seen[c.Module] = true
			names = append(names, c.Module+" "+v)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(w, "Peers: %s.\n\n", strings.Join(names, ", "))
	}
}

// clockCosts measures what a decision cannot do without, the best of several
// attempts.
func clockCosts() map[string]string {
	base := time.Now()
	var sink time.Duration
	best := func(read func(n int)) string {
		const n = 50_000
		least := time.Hour
		for range 9 {
			begin := time.Now()
			read(n)
			least = min(least, time.Since(begin))
		}
		return fmt.Sprintf("%.1f", float64(least)/n)
	}
	since := best(func(n int) {
		for range n {
			sink += time.Since(base)
		}
	})
	now := best(func(n int) {
		for range n {
			sink += time.Duration(time.Now().Nanosecond())
		}
	})
	runtime.KeepAlive(sink)
	return map[string]string{"since": since, "now": now}
}

// modules are those of the contestants.
func modules(cs []Contestant) (paths []string) {
	for _, c := range cs {
		paths = append(paths, c.Module)
	}
	return paths
}
