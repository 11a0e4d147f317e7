// Command pictures draws the diagrams of the documentation, and the pictures of
// docs/ALGORITHMS.md that show one algorithm at work, from what the code really does: it
// plays traffic through limiters on a virtual clock. Pictures that put the algorithms side
// by side are drawn by sluice compare, the one of recommended limits by sluice recommend.
//
//	pictures folder
//
// writes them as SVG files. The same code always gives the same files, byte for
// byte; a test compares them with those in docs/img.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const usage = `usage: pictures folder

Draws the diagrams of the documentation, and each algorithm at work, into the folder:

	go run ./pictures ../docs/img
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	for _, p := range pictures {
		if err := os.WriteFile(filepath.Join(args[0], p.file), []byte(p.draw().String()), 0o644); err != nil {
			fmt.Fprintf(stderr, "pictures: %v\n", err)
			return 1
		}
		fmt.Fprintln(stdout, p.file)
	}
	return 0
}

// pictures are all of them.
var pictures = []struct {
	file string
	draw func() *drawing
}{
	{"promise.svg", promise},
	{"buckets.svg", buckets},
	{"refill.svg", refill},
	{"warm_up.svg", warmUp},
	{"flow.svg", flow},
	{"deployment.svg", deployment},
	{"fixed_window.svg", fixedStory},
	{"sliding_window.svg", slidingStory},
	{"sliding_log.svg", logStory},
	{"token_bucket.svg", tokenStory},
	{"leaky_bucket.svg", leakyStory},
}
