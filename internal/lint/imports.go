package lint

import (
	"slices"
	"strings"
)

// checkListed finds packages that are missing in the table of layers.
func checkListed(files []*file) []Problem {
	var problems []Problem
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.dir] || layerOf(f.dir) >= 0 {
			continue
		}
		seen[f.dir] = true
		problems = append(problems, f.problem(f.line(f.tree.Package),
			"package folder %q has no layer; add it to the table in internal/lint/table.go, "+
				"in the lowest layer above everything that it imports", f.dir))
	}
	return problems
}

// checkArrows finds imports that point up or sideways.
func checkArrows(files []*file) []Problem {
	var problems []Problem
	for _, f := range files {
		for _, imp := range f.imports {
			target, ok := ours(imp.path)
			if !ok || layerOf(f.dir) < 0 {
				continue
			}
			if text := arrow(f, target); text != "" {
				problems = append(problems, f.problem(imp.line, "%s", text))
			}
		}
	}
	return problems
}

// arrow says what is wrong with the file's import of the target folder, or nothing.
func arrow(f *file, target string) string {
	from, to := layerOf(f.dir), layerOf(target)
	own := f.external && target == f.dir
	switch {
	case own, to >= 0 && to < from, f.external && slices.Contains(suites, target):
		return ""
	case to < 0:
		return quoted(f.dir) + " imports " + quoted(target) + ", which has no layer; " +
			"import something else, or add it to the table in internal/lint/table.go"
	case to == from:
		return quoted(f.dir) + " imports its neighbour " + quoted(target) + "; packages of one layer do not know " +
			"each other: move what both need to a lower layer, or join them in a higher one"
	}
	return quoted(f.dir) + " imports " + quoted(target) + ", which stands above it; imports point down: " +
		"move the code up, or pass in what it needs"
}

func quoted(dir string) string {
	if dir == "." {
		return "the root package"
	}
	return `"` + dir + `"`
}

// checkPure finds imports that make algo more than arithmetic.
func checkPure(files []*file) []Problem {
	var problems []Problem
	for _, f := range files {
		if f.dir != "algo" || f.test {
			continue
		}
		for _, imp := range f.imports {
			if !slices.Contains(pureImports, imp.path) {
				problems = append(problems, f.problem(imp.line,
					"algo imports %q, but decisions are pure and use only %s; pass the value in instead",
					imp.path, strings.Join(pureImports, ", ")))
			}
		}
	}
	return problems
}

// checkStandard finds imports of the root module, in tests too, that are neither of the
// standard library nor ours.
func checkStandard(files []*file) []Problem {
	var problems []Problem
	for _, f := range files {
		for _, imp := range f.imports {
			if _, ok := ours(imp.path); !ok && !standard(imp.path) {
				problems = append(problems, f.problem(imp.line,
					"%q is not of the standard library, and the root module has no dependencies; "+
						"code that needs it belongs in a module of its own (server, contrib, bench, e2e, tools)", imp.path))
			}
		}
	}
	return problems
}

// standard tells paths of the standard library by their first element, which has no dot.
// Of these "C" is none: it would make users need a C compiler.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return importPath != "C" && !strings.Contains(first, ".")
}

// checkOuter finds files of the outer modules that use the root's internal packages.
func checkOuter(files []*file) []Problem {
	var problems []Problem
	for _, f := range files {
		for _, imp := range f.imports {
			if dir, ok := ours(imp.path); ok && (dir == "internal" || strings.HasPrefix(dir, "internal/")) {
				problems = append(problems, f.problem(imp.line,
					"%q is internal to the root module, which users may upgrade without this one; "+
						"use a public package, or copy the few lines", imp.path))
			}
		}
	}
	return problems
}
