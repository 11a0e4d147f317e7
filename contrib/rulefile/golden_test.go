package rulefile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write what is generated instead of comparing it")

// serverSettings stand for a section of another program.
type serverSettings struct {
	Listen  string        `json:"listen"`
	Timeout time.Duration `json:"timeout"`
}

var serverDefaults = serverSettings{Listen: ":80", Timeout: time.Second}

// compareGolden compares with a file, or writes it.
func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is stale (-rewrite makes it anew)\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGoodFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(paths) < 3 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range RunTests(r) {
				if !result.Passed() {
					t.Error(result)
				}
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(paths) < 40 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(filepath.Base(path), data, Section("server", serverDefaults), CheckTests())
			if err == nil {
				t.Fatal("no error")
			}
			if _, ok := err.(Problems); !ok {
				t.Errorf("error of type %T", err)
			}
			compareGolden(t, strings.TrimSuffix(path, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}
