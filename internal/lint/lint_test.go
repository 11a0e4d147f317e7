package lint

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// repository is the root of the repository, seen from this package.
const repository = "../.."

func TestRepository(t *testing.T) {
	problems, err := Check(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// TestRepositoryIsSeen guards against a walk that finds nothing and so finds nothing wrong.
func TestRepositoryIsSeen(t *testing.T) {
	files, err := loadModule(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.dir] = true
		if strings.HasPrefix(f.dir, "tools") {
			t.Errorf("%s belongs to another module, but was loaded with the root module", f.name)
		}
	}
	if !seen["internal/lint"] {
		t.Errorf("internal/lint was not loaded; loaded folders: %v", seen)
	}
}

// tree is a repository made of file names and their text; it always has a root go.mod.
type tree map[string]string

func (files tree) fs() fstest.MapFS {
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module " + modulePath + "\n\ngo 1.26\n")}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// expect checks the tree and compares the problems with the wanted ones, each given as
// "file:line: " and a part of its text.
func expect(t *testing.T, files tree, want ...string) {
	t.Helper()
	problems, err := Check(files.fs())
	if err != nil {
		t.Fatal(err)
	}
	for i, problem := range problems {
		if i >= len(want) {
			t.Errorf("unexpected problem: %v", problem)
			continue
		}
		place, text, _ := strings.Cut(want[i], ": ")
		if got := problem.String(); !strings.HasPrefix(got, place+": ") || !strings.Contains(got, text) {
			t.Errorf("problem %d:\n got %s\nwant %s", i+1, got, want[i])
		}
	}
	for _, missing := range want[min(len(problems), len(want)):] {
		t.Errorf("not found: %s", missing)
	}
}

func TestUnreadable(t *testing.T) {
	broken := tree{"algo/a.go": "package algo\nfunc {"}.fs()
	if _, err := Check(broken); err == nil || !strings.Contains(err.Error(), "algo/a.go:2") {
		t.Errorf("file with a syntax error: err = %v, want one that names the file and line", err)
	}
	outer := tree{"contrib/gin/a.go": "package"}.fs()
	if _, err := Check(outer); err == nil || !strings.Contains(err.Error(), "contrib/gin/a.go") {
		t.Errorf("outer file with a syntax error: err = %v, want one that names the file", err)
	}
	if _, err := Check(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("no go.mod: err = %v, want one that names it", err)
	}
}

func TestPassedOver(t *testing.T) {
	bad := "package x\nimport \"example.com/foreign\"\n"
	expect(t, tree{
		"testdata/x/x.go":    bad,
		"vendor/x/x.go":      bad,
		".hidden/x.go":       bad,
		"_old/x.go":          bad,
		"algo/_x.go":         bad,
		"tools/go.mod":       "module " + modulePath + "/tools\n",
		"tools/deep/x.go":    bad,
		"server/go.mod":      "module " + modulePath + "/server\n",
		"server/app/app.go":  bad,
		"algo/notes.txt":     bad,
		"contrib/README.txt": bad,
	})
}
