// Command replay measures `sluice replay` on a large log beside goaccess, and the memory
// that it takes for a million keys. It builds the command, writes the logs into a
// temporary folder, and fails if a bar is missed.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

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
	var root string
	flag.StringVar(&root, "root", "..", "folder of the repository")
	flag.IntVar(&c.Lines, "lines", 5_000_000, "length of the log")
	flag.IntVar(&c.Keys, "keys", 1_000_000, "keys of the log for the memory")
	flag.IntVar(&c.Rounds, "rounds", 3, "rounds, of which the fastest counts")
	flag.Parse()
	folder, err := os.MkdirTemp("", "bench-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c.Folder = folder
	c.Log = filepath.Join(root, "accesslog/testdata/wordpress-2016.log.gz")
	c.Program = filepath.Join(folder, "sluice")
	build := exec.Command("go", "build", "-o", c.Program, "./cmd/sluice")
	build.Dir, build.Stderr = filepath.Join(root, "server"), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return replay.Run(c, os.Stdout)
}
