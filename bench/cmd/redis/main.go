// Command redis compares the library over Redis with its peers and with raw
// scripts, all against one redis-server that it starts itself. It prints
// Markdown tables, then one line per case, then where the library loses:
//
//	case=… ours=… floor=… best_peer=… best=… ours/floor=… ours/best=…
//
// Only peers that keep the limit and do what the case is about count for
// best_peer; the run checks that itself.
package main

import (
	"flag"
	"os"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/redis"
)

func main() {
	cfg := redis.Config{Config: frame.Config{Rounds: 3, Time: time.Second}}
	flag.Func("peers", "regular expression of the peers to run; ours and the floors always run", frame.Pattern(&cfg.Peers))
	frame.Main(&cfg.Config, list, func() error {
		_, err := redis.Run(cfg, os.Stdout, os.Stderr)
		return err
	})
}

// list names the cases and the contestants.
func list() []string {
	names := redis.CaseNames()
	for _, c := range redis.Contestants() {
		names = append(names, c.Kind.String()+": "+c.Name)
	}
	return names
}
