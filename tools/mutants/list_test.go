package main

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestParseList(t *testing.T) {
	got, err := parseList("# comment\n\nname: a: b\nfile: x.go\ntest: ./x ./y/...\ntest: -run=Z\nafter: func f(\n" +
		"# inside\n \tif a {\n-\t\tb()\n+\t\tc()\n+\n\n\n\nname: second\r\nfile: y.go\r\ntest: .\r\n-x\r\n+y")
	if err != nil {
		t.Fatal(err)
	}
	want := []*mutant{
		{
			name: "a: b", file: "x.go", tests: []string{"./x", "./y/...", "-run=Z"}, after: "func f(", line: 3,
			old: []string{"if a {", "b()"}, repl: []string{"\tif a {", "\t\tc()", ""},
		},
		{name: "second", file: "y.go", tests: []string{"."}, line: 16, old: []string{"x"}, repl: []string{"y"}},
	}
	if !reflect.DeepEqual(got, want) {
		for i := range got {
			t.Errorf("mutant %d:\n got %+v\nwant %+v", i, got[i], want[min(i, len(want)-1)])
		}
	}
}

func TestParseListErrors(t *testing.T) {
	head := "name: n\nfile: f\ntest: t\n"
	for _, c := range []struct{ text, want string }{
		{"file: f\n", "1: a mutant has no name:"},
		{"\n\nname: n\n", `3: mutant "n" has no file:`},
		{"name: n\nfile: f\n", "has no test:"},
		{head, "has no original text"},
		{head + "+x\n", "has no original text"},
		{head + " x\n", "changes nothing"},
		{head + "-x\n+  x\n", "changes nothing"},
		{head + "-x\n+y\n\n" + head + "-x\n+z\n", `7: the mutant of line 1 is also named "n"`},
		{head + "nonsense\n", `4: cannot read "nonsense"`},
	} {
		if _, err := parseList(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestListOfRepository reads the list that is in use, so that a typing error shows early.
func TestListOfRepository(t *testing.T) {
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseList(string(text)); err != nil {
		t.Errorf("mutants.txt:%v", err)
	}
}

func TestApply(t *testing.T) {
	source := "func f() {\n\tx := 1\n\treturn x\n}\n\nfunc g() {\n\tx := 1\n\treturn x + 1\n}\n"
	for _, c := range []struct {
		name string
		m    mutant
		want string // the changed source, or a part of the error
	}{
		{"one line", mutant{old: []string{"return x + 1"}, repl: []string{"\treturn x"}}, strings.Replace(source, "x + 1\n}", "x\n}", 1)},
		{"several lines", mutant{old: []string{"x := 1", "return x"}, repl: nil}, strings.Replace(source, "\tx := 1\n\treturn x\n", "", 1)},
		{
			"after",
			mutant{after: "func f(", old: []string{"x := 1"}, repl: []string{"\tx := 2"}},
			strings.Replace(source, "x := 1", "x := 2", 1),
		},
		{
			"after the other",
			mutant{after: "func g(", old: []string{"x := 1"}, repl: []string{"\tx := 2"}},
			strings.Replace(source, "g() {\n\tx := 1", "g() {\n\tx := 2", 1),
		},
		{"twice", mutant{file: "a.go", old: []string{"x := 1"}}, "occurs 2 times in a.go, at lines 2, 7"},
		{"part of a line", mutant{file: "a.go", old: []string{"x"}}, "is not in a.go"},
		{"not after", mutant{file: "a.go", after: "func g(", old: []string{"return x"}}, `not in a.go after "func g("`},
		{"after not unique", mutant{after: "func ", old: []string{"x := 1"}}, "is on 2 lines"},
	} {
		got, err := c.m.apply(source)
		if err != nil {
			if !errors.Is(err, errStale) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: err = %v, want %s", c.name, err, c.want)
			}
		} else if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
