// Command rls measures Envoy's rate-limit service: sluice, in memory and over Redis, a
// server that answers everything with yes, and envoyproxy/ratelimit. It prints Markdown
// tables, and below each one line per entrant:
//
//	case=… entrant=… rps=… ratio=… p50_us=… p99_us=… over=… errors=…
//
// ratio compares with the server that answers everything with yes.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/rls"
)

func main() {
	if rls.Noop() {
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rls:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg   rls.Config
		cases string
		list  bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 5, "measured rounds per case")
	flag.DurationVar(&cfg.Time, "time", 3*time.Second, "length of a round of one entrant")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order")
	flag.BoolVar(&list, "list", false, "list the cases")
	flag.Parse()
	if list {
		fmt.Println(strings.Join(rls.CaseNames(), " "))
		return nil
	}
	if cases != "" {
		var err error
		if cfg.Cases, err = regexp.Compile(cases); err != nil {
			return err
		}
	}
	return rls.Run(cfg, os.Stdout, os.Stderr)
}
