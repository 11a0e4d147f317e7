package compare_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/compare"
)

// images is where the pictures of the documentation are.
const images = "../docs/img"

// TestPicturesAreCurrent draws the pictures of the documentation anew: the committed
// files must be the same, byte for byte.
func TestPicturesAreCurrent(t *testing.T) {
	for _, pattern := range compare.Patterns() {
		var picture bytes.Buffer
		if err := run(t, pattern, "20/s", 1).WriteSVG(&picture); err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join(images, "compare-"+pattern+".svg"))
		if err != nil || !bytes.Equal(committed, picture.Bytes()) {
			t.Errorf("docs/img/compare-%s.svg is stale (%v): run `make docs-pictures`, and look at what has changed", pattern, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(images, "compare-*.svg"))
	if err != nil || len(files) != len(compare.Patterns()) {
		t.Errorf("%v: %d pictures of %d patterns", err, len(files), len(compare.Patterns()))
	}
}

// TestPicturesAreReadable: they are well-formed, tell in words what they show, stay inside
// their frame, load nothing, and know dark pages.
func TestPicturesAreReadable(t *testing.T) {
	for _, limit := range []string{"20/s", "1/h", "500/m"} {
		r := run(t, "flash-sale", limit, 1)
		var picture bytes.Buffer
		if err := r.WriteSVG(&picture); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`role="img"`, "<title id=", "fixed_window " + limit + ":", "prefers-color-scheme: dark"} {
			if !strings.Contains(picture.String(), want) {
				t.Errorf("%s: no %s", limit, want)
			}
		}
		decoder := xml.NewDecoder(&picture)
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok {
				checkElement(t, e)
			}
		}
	}
}

func checkElement(t *testing.T, e xml.StartElement) {
	t.Helper()
	const width, height = 880, 640
	for _, a := range e.Attr {
		v, err := strconv.ParseFloat(a.Value, 64)
		switch a.Name.Local {
		case "x":
			if err != nil || v < 0 || v > width {
				t.Errorf("%s at x=%s", e.Name.Local, a.Value)
			}
		case "y":
			if err != nil || v < 0 || v > height {
				t.Errorf("%s at y=%s", e.Name.Local, a.Value)
			}
		case "href", "src":
			t.Errorf("loads %s", a.Value)
		}
		if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
			t.Errorf("%s=%q", a.Name.Local, a.Value)
		}
	}
}

// TestText: every limit has its bars and its figures.
func TestText(t *testing.T) {
	var text bytes.Buffer
	if err := run(t, "edge", "20/s", 1).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"edge: as many as the limit right before the end of a window", "40 requests in 4 s\n", "40 admitted by 20/s\n",
		"fixed_window    0       0       40 !  ", "sliding_log     20      0       20  ", "2N at a boundary", "one compare-and-swap\n", "FALSE DENIALS",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}
