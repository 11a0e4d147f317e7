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
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/local"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg          = local.Config{}
		cases, peers string
		jsonFile     string
		list         bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 7, "measured rounds per case")
	flag.DurationVar(&cfg.Time, "time", 150*time.Millisecond, "length of a round of one contestant")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.StringVar(&peers, "peers", "", "regular expression of the peers to run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order and of the keys")
	flag.StringVar(&jsonFile, "json", "", "file to write the report to as JSON")
	flag.BoolVar(&cfg.Quick, "quick", false, "fewer keys, 3 rounds of 20 ms: only to see that it works")
	flag.BoolVar(&list, "list", false, "list cases and contestants")
	flag.Parse()
	if cfg.Quick {
		cfg.Rounds, cfg.Time = 3, 20*time.Millisecond
	}
	if list {
		printList(cfg)
		return nil
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	if cfg.Peers, err = frame.Pattern(peers); err != nil {
		return err
	}
	report := local.Run(cfg, os.Stdout, os.Stderr)
	if jsonFile == "" {
		return nil
	}
	return writeJSON(report, jsonFile)
}

func printList(cfg local.Config) {
	fmt.Println("cases:", strings.Join(local.CaseNames(cfg), " "))
	for _, c := range local.Contestants() {
		fmt.Printf("%-6s %s\n", c.Kind, c.Name)
	}
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
