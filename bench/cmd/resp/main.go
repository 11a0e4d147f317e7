// Command resp measures the door for Redis clients beside a redis-server, with
// redis-benchmark. It prints Markdown tables, and below each one line per entrant:
//
//	case=… entrant=… rps=… ratio=…
//
// rps is requests per second; ratio compares with the first entrant of the case.
package main

import (
	"flag"
	"os"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/resp"
)

func main() {
	cfg := resp.Config{Config: frame.Config{Rounds: 7}}
	flag.IntVar(&cfg.Requests, "requests", 200_000, "requests of a round of one entrant without a pipeline; with one, five times as many")
	frame.Main(&cfg.Config, resp.CaseNames, func() error { return resp.Run(cfg, os.Stdout, os.Stderr) })
}
