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
	"os"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/server"
)

func main() {
	if server.Noop() {
		return
	}
	cfg := frame.Config{Rounds: 9, Time: 3 * time.Second}
	frame.Main(&cfg, server.CaseNames, func() error { return server.Run(cfg, os.Stdout, os.Stderr) })
}
