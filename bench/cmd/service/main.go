// Command service measures the rule engine, the HTTP middleware beside its peers,
// and the database guard. It prints Markdown tables, and below each one line per
// entrant:
//
//	case=… entrant=… ns=… over=… ratio=… allocs=…
//
// ns is per operation; over and ratio compare with the first entrant of the case.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/service"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg   service.Config
		cases string
		list  bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 9, "measured rounds per case")
	flag.DurationVar(&cfg.Time, "time", 200*time.Millisecond, "length of a round of one entrant")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order")
	flag.BoolVar(&list, "list", false, "list the cases")
	flag.Parse()
	if list {
		fmt.Println(strings.Join(service.CaseNames(), " "))
		return nil
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	return service.Run(cfg, os.Stdout, os.Stderr)
}
