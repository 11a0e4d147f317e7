// Command server measures the program sluice: what `sluice serve` answers beside a
// net/http server that only reads and writes the same bodies. It prints Markdown
// tables, and below each one line per entrant:
//
//	case=… entrant=… rps=… decisions=… ratio=… p99_us=… p99_ratio=… cpu_us=… cpu_ratio=… errors=… rss_before=… rss_after=…
//
// Ratios compare with the no-op handler. The case redis adds over_smaller: the rate in
// times of the no-op handler or the library, whichever is smaller.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/server"
)

func main() {
	if server.Noop() {
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg   server.Config
		cases string
		list  bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 9, "measured rounds per case")
	flag.DurationVar(&cfg.Time, "time", 3*time.Second, "length of a round of one entrant")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order")
	flag.BoolVar(&list, "list", false, "list the cases")
	flag.Parse()
	if list {
		fmt.Println(strings.Join(server.CaseNames(), " "))
		return nil
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	return server.Run(cfg, os.Stdout, os.Stderr)
}
