// Package lint keeps the shape of the repository: which package may import which, where a
// clock may be read, that users of the root module get no dependencies, and that the code in
// the documentation is compiled.
//
// The rules are functions over parsed files, so that tests run them on the repository and,
// to prove that each of them can fail, on small examples that break it. The tables that a
// new package or a new clock has to enter are in table.go.
package lint

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Problem is one place that breaks a rule.
type Problem struct {
	File string // slash-separated, from the root of the repository
	Line int
	Text string // what is wrong, and what to do
}

// String gives the problem in the form that editors can jump to.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Check runs all rules on the repository whose root is fsys. An error means that it could
// not be read or parsed; broken rules are the problems.
func Check(fsys fs.FS) ([]Problem, error) {
	root, err := loadModule(fsys)
	if err != nil {
		return nil, err
	}
	outer, err := loadTrees(fsys, outerTrees...)
	if err != nil {
		return nil, err
	}
	problems, err := checkGoMod(fsys)
	if err != nil {
		return nil, err
	}
	uncompiled, err := checkSnippets(fsys)
	if err != nil {
		return nil, err
	}
	problems = append(problems, uncompiled...)
	problems = append(problems, checkListed(root)...)
	problems = append(problems, checkArrows(root)...)
	problems = append(problems, checkPure(root)...)
	problems = append(problems, checkClock(root)...)
	problems = append(problems, checkStandard(root)...)
	problems = append(problems, checkOuter(outer)...)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return problems, nil
}
