package replay

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGenerate: logs have the lines that they say, copies follow one another in time, and
// no two keys are equal.
func TestGenerate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	n, err := Repeat("../../accesslog/testdata/semicomplete-2015.log.gz", path, 12_000, 40)
	if err != nil || n != 12_000 {
		t.Fatal(n, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) != n || !bytes.Contains(lines[0], []byte("[17/May/2015:10:05:03 +0000]")) || !bytes.Contains(lines[10_000], []byte("[26/Jun/2015:10:05:03 +0000]")) {
		t.Errorf("%d lines, %s, %s", len(lines), lines[0], lines[10_000])
	}
	if n, err = ManyKeys(path, 5000); err != nil || n != 10_000 {
		t.Fatal(n, err)
	}
	if text, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	keys := map[string]int{}
	for line := range bytes.Lines(text) {
		key, _, _ := bytes.Cut(line, []byte(" "))
		keys[string(key)]++
	}
	if len(keys) != 5000 {
		t.Errorf("%d keys", len(keys))
	}
}
