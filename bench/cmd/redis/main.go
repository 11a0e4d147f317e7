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
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/redis"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		cfg          redis.Config
		cases, peers string
		seconds      float64
		list         bool
	)
	flag.IntVar(&cfg.Rounds, "rounds", 3, "measured rounds per case")
	flag.Float64Var(&seconds, "seconds", 1, "length of a round of one contestant in seconds")
	flag.StringVar(&cases, "case", "", "regular expression of the cases to run")
	flag.StringVar(&peers, "peers", "", "regular expression of the peers to run; ours and the floors always run")
	flag.Uint64Var(&cfg.Seed, "seed", uint64(time.Now().UnixNano()), "seed of the order and of the keys")
	flag.BoolVar(&list, "list", false, "list cases and contestants")
	flag.Parse()
	if list {
		printList()
		return nil
	}
	cfg.Time = time.Duration(seconds * float64(time.Second))
	if cfg.Rounds < 1 || cfg.Time < time.Millisecond {
		return fmt.Errorf("%d rounds of %v: at least one round of a millisecond is needed", cfg.Rounds, cfg.Time)
	}
	var err error
	if cfg.Cases, err = frame.Pattern(cases); err != nil {
		return err
	}
	if cfg.Peers, err = frame.Pattern(peers); err != nil {
		return err
	}
	_, err = redis.Run(cfg, os.Stdout, os.Stderr)
	return err
}

func printList() {
	fmt.Println("cases:", strings.Join(redis.CaseNames(), " "))
	for _, c := range redis.Contestants() {
		fmt.Printf("%-8s%s\n", c.Kind, c.Name)
	}
}
