package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A count is how many statements a package has, and how many of them a test reached.
type count struct {
	statements, reached int
}

// percent is the share of statements reached, cut to a tenth so that it never flatters.
func (c *count) percent() float64 {
	if c.statements == 0 {
		return 0
	}
	return float64(c.reached*1000/c.statements) / 10
}

// A block is a stretch of statements of one file, as the profile names it.
type block struct {
	place      string // file:line.column,line.column
	statements int
}

// parse reads a coverage profile and counts by package, named from the module's root.
func parse(profile, module string) (map[string]*count, error) {
	blocks := map[block]bool{}
	number := 0
	for line := range strings.Lines(profile) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "mode: ") {
			continue
		}
		b, hit, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		blocks[b] = blocks[b] || hit
	}
	packages := map[string]*count{}
	for b, hit := range blocks {
		name := packageOf(b.place, module)
		if packages[name] == nil {
			packages[name] = &count{}
		}
		packages[name].statements += b.statements
		if hit {
			packages[name].reached += b.statements
		}
	}
	return packages, nil
}

// parseLine reads "file:from,to statements hits".
func parseLine(line string) (block, bool, error) {
	words := strings.Fields(line)
	if len(words) == 3 {
		statements, err1 := strconv.Atoi(words[1])
		hits, err2 := strconv.ParseUint(words[2], 10, 64)
		if err1 == nil && err2 == nil {
			return block{words[0], statements}, hits > 0, nil
		}
	}
	return block{}, false, fmt.Errorf("%q is not of the form \"file:from,to statements hits\"; is this a coverage profile?", line)
}

// packageOf gives the package of a place in a file, "." for the module's root.
func packageOf(place, module string) string {
	file, _, _ := strings.Cut(place, ":")
	name := path.Dir(file)
	if name == module {
		return "."
	}
	return strings.TrimPrefix(name, module+"/")
}
