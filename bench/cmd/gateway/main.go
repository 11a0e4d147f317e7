// Command gateway measures `sluice gateway` beside nginx, HAProxy, Caddy, a bare
// httputil.ReverseProxy and a bare handler that refuses. It prints Markdown tables, and
// below each one line per entrant:
//
//	case=… entrant=… rps=… floor_ratio=… sluice_ratio=… p99_us=… cpu_us=… requests=… wrong=…
//
// floor_ratio is its rate in times of the bare one, sluice_ratio that of sluice in times
// of this one. cpu_us is the processor time per request, without that of the upstream.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/gateway"
)

func main() {
	if gateway.Bare() {
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg   gateway.Config
		cases string
		list  bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 9, "measured rounds per case")
	flag.DurationVar(&cfg.Time, "time", 3*time.Second, "length of a round of one entrant, in whole seconds")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order")
	flag.BoolVar(&list, "list", false, "list the cases")
	flag.Parse()
	if list {
		fmt.Println(strings.Join(gateway.CaseNames(), " "))
		return nil
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	return gateway.Run(cfg, os.Stdout, os.Stderr)
}
