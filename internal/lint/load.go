package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// An importSpec is one import of a file.
type importSpec struct {
	path string
	name string // the name given in the file: "", ".", "_" or a rename
	line int
}

// A file is one Go file, of any platform and with any build tag.
type file struct {
	name     string // slash-separated, from the root of the repository
	dir      string // folder of the package, "." for the root
	test     bool   // named _test.go
	external bool   // in a package x_test
	imports  []importSpec
	tree     *ast.File
	fset     *token.FileSet
}

// line returns the line of a position in the file.
func (f *file) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// problem makes a Problem at the given line of the file.
func (f *file) problem(line int, format string, args ...any) Problem {
	return Problem{File: f.name, Line: line, Text: fmt.Sprintf(format, args...)}
}

// loadModule parses all Go files of the root module: nested modules are left out, as are the
// folders that the go command passes over.
func loadModule(fsys fs.FS) ([]*file, error) {
	return load(fsys, ".", true)
}

// loadTrees parses all Go files below the given folders; those that do not exist hold none.
func loadTrees(fsys fs.FS, dirs ...string) ([]*file, error) {
	var files []*file
	for _, dir := range dirs {
		_, err := fs.Stat(fsys, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found, err := load(fsys, dir, false)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// load parses the Go files below root, stopping at nested modules if oneModule is set.
func load(fsys fs.FS, root string, oneModule bool) ([]*file, error) {
	var files []*file
	err := fs.WalkDir(fsys, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("lint: cannot walk the repository: %w", err)
		}
		if entry.IsDir() {
			if name != root && (ignored(path.Base(name)) || oneModule && hasGoMod(fsys, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || ignored(path.Base(name)) {
			return nil
		}
		f, err := parse(fsys, name)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// ignored tells whether the go command passes over a file or folder of this name.
func ignored(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor"
}

func hasGoMod(fsys fs.FS, dir string) bool {
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// parse reads one Go file.
func parse(fsys fs.FS, name string) (*file, error) {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("lint: cannot read a source file: %w", err)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("lint: cannot parse a source file: %w", err)
	}
	f := &file{name: name, dir: path.Dir(name), tree: tree, fset: fset}
	f.test = strings.HasSuffix(name, "_test.go")
	f.external = f.test && strings.HasSuffix(tree.Name.Name, "_test")
	for _, spec := range tree.Imports {
		f.imports = append(f.imports, newImport(f, spec))
	}
	return f, nil
}

func newImport(f *file, spec *ast.ImportSpec) importSpec {
	// The parser has checked that the path is a valid string literal.
	importPath, _ := strconv.Unquote(spec.Path.Value)
	result := importSpec{path: importPath, line: f.line(spec.Pos())}
	if spec.Name != nil {
		result.name = spec.Name.Name
	}
	return result
}
