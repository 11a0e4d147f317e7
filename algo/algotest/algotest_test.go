package algotest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/store"
)

var rewriteFlag = flag.Bool("rewrite", false, "write what the Model answers into the scripts")

func openModel(_ testing.TB, now func() time.Time) store.Store { return NewModel(now) }

func TestScripts(t *testing.T) { Run(t, openModel) }

// TestRewrite fails if -rewrite would change a file, and changes it with the flag.
func TestRewrite(t *testing.T) {
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := rewrite(f)
		if err != nil {
			t.Error(err)
			continue
		}
		path := filepath.FromSlash(f.name)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case text == string(old):
		case *rewriteFlag:
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("go test -rewrite would change %s", path)
		}
	}
}
