package deploy

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// TestMain finds goroutines that were left behind, and removes the program.
func TestMain(m *testing.M) { program.Main(m) }

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(program.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestProgramIsStatic shows that an image without any library can run it.
func TestProgramIsStatic(t *testing.T) {
	f, err := elf.Open(program.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("libraries %v, error %v: want none", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it wants a loader, which a bare image does not have")
		}
	}
}
