// Command links checks that every relative link in the Markdown files of a repository leads
// somewhere: the file or folder exists, and so does the heading behind a #anchor.
//
//	links [folder]
//
// The folder is the root of the repository, "." by default. Links to other sites are not
// followed. The exit code is 1 if a link is broken and 2 if the files cannot be read.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage: links [folder]

Checks the relative links and #anchors of all Markdown files below the folder
(the current one if none is given). Prints one line per broken link:

	docs/GUIDE.md:12: README.md#instal: README.md has no heading for #instal

Folders named .git, node_modules, testdata and vendor are passed over, as is
everything inside code blocks. Links to other sites are not followed.
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings passed in; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("links", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage) }
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	root := "."
	if flags.NArg() > 0 {
		root = flags.Arg(0)
	}
	result, err := check(os.DirFS(root))
	if err != nil {
		fmt.Fprintf(stderr, "links: %v\n", err)
		return 2
	}
	for _, broken := range result.broken {
		fmt.Fprintln(stdout, broken)
	}
	fmt.Fprintf(stdout, "links: %d files, %d links, %d broken\n", result.files, result.links, len(result.broken))
	if len(result.broken) > 0 {
		return 1
	}
	return 0
}
