// Command resp measures the door for Redis clients beside a redis-server, with
// redis-benchmark. It prints Markdown tables, and below each one line per entrant:
//
//	case=… entrant=… rps=… ratio=…
//
// rps is requests per second; ratio compares with the first entrant of the case.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/resp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "resp:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg   resp.Config
		cases string
		list  bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 7, "measured rounds per case")
	flag.IntVar(&cfg.Requests, "requests", 200_000, "requests of a round of one entrant without a pipeline; with one, five times as many")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.StringVar(&cfg.Server, "server", "../server", "folder of the server's module")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order")
	flag.BoolVar(&list, "list", false, "list the cases")
	flag.Parse()
	if list {
		fmt.Println(strings.Join(resp.CaseNames(), " "))
		return nil
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	return resp.Run(cfg, os.Stdout, os.Stderr)
}
