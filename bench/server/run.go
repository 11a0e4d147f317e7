package server

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/sluice-limiter/sluice/bench/redis"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// lineup is a case: entrants that are measured together.
type lineup struct {
	name, says  string
	batch       int // decisions per request
	connections int
	redis       bool
}

func lineups() []lineup {
	return []lineup{
		{"check", "One decision per request, 16 connections, two limits in memory.", 1, 16, false},
		{"batch", "100 decisions per request, 16 connections, two limits in memory.", 100, 16, false},
		{"redis", "One decision per request, 128 connections, two limits in Redis. The library decides the same from 128 goroutines, without leases and without a network before it.", 1, 128, true},
	}
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
	dir, err := os.MkdirTemp("", "sluice-bench-server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(progress, "building sluice")
	b := &bench{dir: dir}
	if b.program, err = frame.Build(dir); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(cfg.Seed, 1))
	header(cfg, out)
	for _, l := range lineups() {
		if !cfg.Runs(l.name) {
			continue
		}
		fmt.Fprintln(progress, "case:", l.name)
		if err := l.run(b, cfg, r, out); err != nil {
			return fmt.Errorf("case %s: %w", l.name, err)
		}
	}
	return nil
}

// run measures one case.
func (l lineup) run(b *bench, cfg frame.Config, r *rand.Rand, out io.Writer) (err error) {
	if l.redis {
		var stop func()
		if b.redis, stop, err = redis.Serve(); err != nil {
			return err
		}
		defer stop()
	}
	var es []*entrant
	defer func() {
		for _, e := range es {
			err = errors.Join(err, e.close())
		}
	}()
	if es, err = l.enter(b); err != nil {
		return err
	}
	if err := interleave(es, cfg, r); err != nil {
		return err
	}
	l.print(out, es)
	return nil
}

// enter starts the entrants; the no-op handler is the first. Those that it returns run,
// also if another failed.
func (l lineup) enter(b *bench) (es []*entrant, err error) {
	add := func(e *entrant, err error) error {
		if err == nil {
			es = append(es, e)
		}
		return err
	}
	var settings []string
	if l.redis {
		settings = []string{"SLUICE_REDIS=redis://" + b.redis, "SLUICE_DEADLINE=1s"} // Redis decides, also on a busy machine
	}
	if err := add(b.sluice("sluice", l, settings...)); err != nil {
		return es, err
	}
	if err := add(b.noop(es[0], l)); err != nil {
		return es, err
	}
	es[0], es[1] = es[1], es[0]
	if !l.redis {
		return es, nil
	}
	if err := add(b.sluice("sluice, no leases", l, append(settings, "SLUICE_LEASE_ON=false", "SLUICE_PREFIX=plain")...)); err != nil {
		return es, err
	}
	return es, add(b.library(l))
}
