package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The documentation is read through a link inside this module, because the go
// command would take no notice of changes outside of it and answer from its cache.
const (
	images   = "testdata/docs/img"
	document = "testdata/docs/ALGORITHMS.md"
)

// TestPicturesAreCurrent draws every picture anew: the committed files must be
// the same, byte for byte.
func TestPicturesAreCurrent(t *testing.T) {
	for _, p := range pictures {
		text, err := os.ReadFile(filepath.Join(images, p.file))
		if err != nil {
			t.Errorf("%v; draw it with 'cd tools && go run ./pictures ../docs/img'", err)
			continue
		}
		if string(text) != p.draw().String() {
			t.Errorf("docs/img/%s is stale; draw it with 'cd tools && go run ./pictures ../docs/img'", p.file)
		}
	}
}

// TestPicturesAreReadable parses every picture: it is well-formed, says in words
// what it shows, starts no text outside of its card and loads nothing.
func TestPicturesAreReadable(t *testing.T) {
	for _, p := range pictures {
		d := p.draw()
		if d.title == "" || len(d.desc) < 40 {
			t.Errorf("%s: no title or description", p.file)
		}
		decoder := xml.NewDecoder(strings.NewReader(d.String()))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", p.file, err)
			}
			if start, ok := token.(xml.StartElement); ok {
				judge(t, p.file, d, start)
			}
		}
	}
}

func judge(t *testing.T, file string, d *drawing, e xml.StartElement) {
	t.Helper()
	for _, a := range e.Attr {
		v, err := strconv.ParseFloat(a.Value, 64)
		switch a.Name.Local {
		case "x", "cx":
			if err != nil || v < 0 || v > width {
				t.Errorf("%s: %s at x=%s", file, e.Name.Local, a.Value)
			}
		case "y", "cy":
			if err != nil || v < 0 || v > d.height {
				t.Errorf("%s: %s at y=%s", file, e.Name.Local, a.Value)
			}
		case "href", "src":
			t.Errorf("%s: loads %s", file, a.Value)
		}
		if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
			t.Errorf("%s: %s=%q", file, a.Name.Local, a.Value)
		}
	}
}

// TestRun writes the files, and says what is wrong.
func TestRun(t *testing.T) {
	var out, errs strings.Builder
	if code := run([]string{t.TempDir()}, &out, &errs); code != 0 || strings.Count(out.String(), "\n") != len(pictures) {
		t.Errorf("exit code %d, printed %q and %q", code, out.String(), errs.String())
	}
	if code := run(nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "usage") {
		t.Errorf("no folder: exit code %d, %q", code, errs.String())
	}
	if code := run([]string{filepath.Join(t.TempDir(), "missing")}, &out, &errs); code != 1 {
		t.Errorf("a folder that is not there: exit code %d", code)
	}
}
