package service

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// lineup is a case: entrants that are measured together. The first is what the
// others are compared with.
type lineup struct {
	name string
	says string
	make func() ([]*entrant, error)
	// over subtracts the first entrant from the others: what they add to it.
	over bool
}

func lineups() []lineup {
	return []lineup{engineRules(), engineObserver(), httpMiddleware(), sqlGuard()}
}

// CaseNames lists the names of all cases.
func CaseNames() []string {
	var names []string
	for _, l := range lineups() {
		names = append(names, l.name)
	}
	return names
}

// Run runs the cases and prints a table of each.
func Run(cfg frame.Config, out, progress io.Writer) error {
	r := rand.New(rand.NewPCG(cfg.Seed, 1))
	header(cfg, out)
	for _, l := range lineups() {
		if !cfg.Runs(l.name) {
			continue
		}
		fmt.Fprintln(progress, "case:", l.name)
		es, err := l.make()
		if err != nil {
			return fmt.Errorf("case %s: %w", l.name, err)
		}
		interleave(es, cfg, r)
		l.print(out, es)
	}
	return nil
}
