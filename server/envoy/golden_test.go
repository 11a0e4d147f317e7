package envoy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
)

var rewrite = flag.Bool("rewrite", false, "write what is there as what is expected")

// golden compares with a file beside the input.
func golden(t *testing.T, input, got string) {
	t.Helper()
	name := strings.TrimSuffix(input, ".yaml") + ".golden"
	if *rewrite {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != got {
		t.Errorf("%s: got\n%s\nwant\n%s (%v)", input, got, want, err)
	}
}

func inputs(t *testing.T, folder string) []envoy.File {
	t.Helper()
	names, err := filepath.Glob("testdata/" + folder + "/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("no input", err)
	}
	var files []envoy.File
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, envoy.File{Name: name, Data: data})
	}
	return files
}

func TestGoodFiles(t *testing.T) {
	for _, f := range inputs(t, "good") {
		tree, err := envoy.Parse([]envoy.File{f}, envoy.Options{})
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if _, err := rule.Compile(rule.Config{Rules: tree.Rules()}); err != nil {
			t.Errorf("%s: the rules of it: %v", f.Name, err)
		}
		golden(t, f.Name, describe(tree))
	}
}

// describe writes a tree down.
func describe(tree *envoy.Tree) string {
	var b strings.Builder
	for _, l := range tree.Leaves() {
		fmt.Fprintf(&b, "%s\n  limit %v, key %q\n", l.Rule, l.Limit, l.Attributes)
		if l.Unlimited || l.Shadow || l.Quota || l.Name != "" {
			fmt.Fprintf(&b, "  unlimited %v, shadow %v, quota %v, name %q, replaces %q, metadata %v\n", l.Unlimited, l.Shadow, l.Quota, l.Name, l.Replaces, l.Metadata)
		}
	}
	return b.String()
}

func TestBadFiles(t *testing.T) {
	for _, f := range inputs(t, "bad") {
		f.Name = filepath.Base(f.Name)
		_, err := envoy.Parse([]envoy.File{f}, envoy.Options{})
		if err == nil {
			t.Errorf("%s: nothing is wrong with it", f.Name)
			continue
		}
		golden(t, "testdata/bad/"+f.Name, err.Error()+"\n")
	}
}
