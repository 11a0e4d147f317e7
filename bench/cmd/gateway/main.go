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
	"os"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/gateway"
)

func main() {
	if gateway.Bare() {
		return
	}
	cfg := frame.Config{Rounds: 9, Time: 3 * time.Second}
	frame.Main(&cfg, gateway.CaseNames, func() error { return gateway.Run(cfg, os.Stdout, os.Stderr) })
}
