// Command service measures the rule engine, the HTTP middleware beside its peers,
// and the database guard. It prints Markdown tables, and below each one line per
// entrant:
//
//	case=… entrant=… ns=… over=… ratio=… allocs=…
//
// ns is per operation; over and ratio compare with the first entrant of the case.
package main

import (
	"os"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/service"
)

func main() {
	cfg := frame.Config{Rounds: 9, Time: 200 * time.Millisecond}
	frame.Main(&cfg, service.CaseNames, func() error { return service.Run(cfg, os.Stdout, os.Stderr) })
}
