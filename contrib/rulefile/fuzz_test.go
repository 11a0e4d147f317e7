package rulefile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse: whatever a file holds, it is a result or problems with places in it.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/*.yaml")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse("fuzz.yaml", data)
		if err == nil {
			if r.Set == nil {
				t.Error("neither rules nor an error")
			}
			return
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 || problems.Error() == "" {
			t.Fatalf("error %T %v", err, err)
		}
		for _, p := range problems {
			if p.Line < 0 || p.Line > 0 && p.Column < 1 || p.Reason == "" || p.File != "fuzz.yaml" {
				t.Errorf("problem %+v", p)
			}
		}
	})
}

// FuzzCondition: an expression compiles or is refused, and evaluating it never panics.
func FuzzCondition(f *testing.F) {
	for _, text := range []string{`path == "/x"`, `int(user) > 3`, `in_cidr(ip, "::/0")`, `path matches "a+"`, `[1,2][length] > 0`, `{"a": user}.a == "x"`} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if fits, err := NewConditions().Compile(text); err == nil {
			fits(sample())
		}
	})
}
