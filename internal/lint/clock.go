package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// checkClock finds every mention of time.Now, called or passed on as a value and under
// whatever name the file imports time, in code that must be given the time instead.
func checkClock(files []*file) []Problem {
	var problems []Problem
	for _, f := range files {
		if !f.test && !mayReadClock(f.name) {
			problems = append(problems, clockUses(f)...)
		}
	}
	return problems
}

func mayReadClock(name string) bool {
	return slices.Contains(clockFiles, name) ||
		slices.ContainsFunc(clockFree, func(dir string) bool { return strings.HasPrefix(name, dir) })
}

// clockUses lists the uses of time.Now in one file.
func clockUses(f *file) []Problem {
	var problems []Problem
	var names []string
	for _, imp := range f.imports {
		switch {
		case imp.path != "time":
		case imp.name == ".":
			problems = append(problems, f.problem(imp.line,
				"a dot import of time hides where the clock is read; import it by its name"))
		case imp.name == "":
			names = append(names, "time")
		default:
			names = append(names, imp.name)
		}
	}
	for node := range ast.Preorder(f.tree) {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Now" {
			continue
		}
		if base, ok := selector.X.(*ast.Ident); ok && slices.Contains(names, base.Name) {
			problems = append(problems, f.problem(f.line(selector.Pos()),
				"time.Now outside the files that may read the clock (%s); take the time as an argument or a clock "+
					"as an option, or list this file in internal/lint/table.go", strings.Join(clockFiles, ", ")))
		}
	}
	return problems
}
