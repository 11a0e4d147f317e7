package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

const want = `request 0 allowed: true
request 1 allowed: true
request 2 allowed: true
request 3 allowed: false
request 4 allowed: false
`

func TestMainPrints(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	synctest.Test(t, func(*testing.T) { main() })
	os.Stdout = stdout
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file.Name())
	if err != nil || string(got) != want {
		t.Errorf("error %v, got\n%s", err, got)
	}
}
