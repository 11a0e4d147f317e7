// Command replay measures `sluice replay` on a large log beside goaccess, and the memory
// that it takes for a million keys. It builds the command, writes the logs into a
// temporary folder, and fails if a bar is missed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluice-limiter/sluice/bench/frame"
	"github.com/sluice-limiter/sluice/bench/replay"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run() error {
	c := replay.Config{}
	flag.IntVar(&c.Lines, "lines", 5_000_000, "length of the log")
	flag.IntVar(&c.Keys, "keys", 1_000_000, "keys of the log for the memory")
	flag.IntVar(&c.Rounds, "rounds", 3, "rounds, of which the fastest counts")
	flag.Parse()
	root, err := frame.Root()
	if err != nil {
		return err
	}
	c.Log = filepath.Join(root, "accesslog/testdata/wordpress-2016.log.gz")
	if c.Folder, err = os.MkdirTemp("", "bench-replay-"); err != nil {
		return err
	}
	defer os.RemoveAll(c.Folder)
	if c.Program, err = frame.Build(c.Folder); err != nil {
		return err
	}
	return replay.Run(c, os.Stdout)
}
