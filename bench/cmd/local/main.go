// Command local compares the library, its peers and the physical floors in one
// process. It prints Markdown tables, then one line per case:
//
//	case=… ours=… floor=… best_exact_peer=… best=… ours/floor=… best/ours=…
//
// Figures are nanoseconds per decision unless the table says otherwise. Only
// peers that keep the limit count for best_exact_peer; the run checks that
// itself.
package main

import (
	"flag"
	"os"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/local"
)

func main() {
	var file string
	cfg := local.Config{Config: frame.Config{Rounds: 7, Time: 150 * time.Millisecond}}
	flag.Func("peers", "regular expression of the peers to run; ours and the floors always run", frame.Pattern(&cfg.Peers))
	flag.BoolVar(&cfg.Quick, "quick", false, "fewer keys, 3 rounds of 20 ms: only to see that it works")
	flag.StringVar(&file, "json", "", "file to write the report to as JSON")
	frame.Main(&cfg.Config, func() []string { return list(cfg) }, func() error {
		if cfg.Quick {
			cfg.Rounds, cfg.Time = 3, 20*time.Millisecond
		}
		report := local.Run(cfg, os.Stdout, os.Stderr)
		if file == "" {
			return nil
		}
		return writeJSON(report, file)
	})
}

// list names the cases and the contestants.
func list(cfg local.Config) []string {
	names := local.CaseNames(cfg)
	for _, c := range local.Contestants() {
		names = append(names, c.Kind.String()+": "+c.Name)
	}
	return names
}

func writeJSON(r local.Report, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := r.WriteJSON(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
