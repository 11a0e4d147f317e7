// Package program builds the real program sluice, once for all tests of a package.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// Root is the repository, as seen from the packages that use this one.
const Root = "../.."

var built struct {
	once sync.Once
	dir  string
	err  error
}

// Main is for TestMain: it finds goroutines that were left behind, and removes the
// program.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}))
}

// Path returns where the program is, built as for the image: without C.
func Path(t testing.TB) string {
	t.Helper()
	built.once.Do(build)
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "sluice")
}

func build() {
	if built.dir, built.err = os.MkdirTemp("", "sluice-program"); built.err != nil {
		return
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(built.dir, "sluice"), "./cmd/sluice")
	cmd.Dir = filepath.Join(Root, "server")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		built.err = fmt.Errorf("go build: %w\n%s", err, out)
	}
}
