package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func repository(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// broken checks one page in a small repository and returns the complaints without "page.md:".
func broken(t *testing.T, text string) []string {
	t.Helper()
	r, err := check(repository(map[string]string{
		"docs/page.md":          text,
		"docs/other.md":         "# Other page\n\n## Same\n\n## Same\n\n<a id=\"byHand\"></a>\n",
		"docs/a b.md":           "# Spaces\n",
		"README.md":             "# Read me\n",
		"store/store.go":        "package store\n",
		"testdata/bad.md":       "[gone](gone.md)",
		"node_modules/x/bad.md": "[gone](gone.md)",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.broken {
		r.broken[i] = strings.TrimPrefix(r.broken[i], "docs/page.md:")
	}
	return r.broken
}

func TestLinksThatLeadSomewhere(t *testing.T) {
	for _, text := range []string{
		"[site](https://example.com/x#y), [mail](mailto:a@example.com), [any](//example.com)",
		"[file](other.md), [folder](../store), [source](../store/store.go#L1), [range](../store/store.go#L1-L2)",
		"[root](/README.md#read-me), [folder with a page](..#read-me), [query](other.md?plain=1)",
		"[heading](other.md#other-page), [again](other.md#same-1), [by hand](other.md#byHand)",
		"[spaces](<a b.md>), [escaped](a%20b.md#spaces), [title](other.md \"title\"), ![image](../store/store.go)",
		"# Here\n\n[here](#here) [top](#)",
		"[ref]: other.md\n[note]: <other.md> \"title\"\n[^1]: gone.md is a footnote",
		"[![badge](../README.md)](other.md)",
		"`[code](gone.md)` and ``[more `code`](gone.md)``",
		"```\n[block](gone.md)\n```\n",
		"~~~~md\n```\n~~~\n[block](gone.md)\n~~~~\n",
		"- item\n\n  ```sh\n  [block](gone.md)\n  ```\n",
		"<!-- [comment](gone.md)\n[more](gone.md) -->\n",
	} {
		if got := broken(t, text); len(got) > 0 {
			t.Errorf("%q:\nunexpected: %s", text, strings.Join(got, "\n"))
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n[file](gone.md)", "2: gone.md: there is no docs/gone.md"},
		{"![image](gone.png 'title')", "1: gone.png: there is no docs/gone.png"},
		{"[a](other.md) [b](<gone it.md>)", "1: gone it.md: there is no docs/gone it.md"},
		{"[paren](gone(1).md)", "1: gone(1).md: there is no docs/gone(1).md"},
		{"[![badge](gone.svg)](other.md)", "1: gone.svg: there is no docs/gone.svg"},
		{"[up](../../x.md)", "1: ../../x.md: leads out of the repository"},
		{"[escape](%zz.md)", "1: %zz.md: the path is not escaped correctly"},
		{"[own](#nothing)", "1: #nothing: docs/page.md has no heading for #nothing"},
		{"[other](other.md#same-2)", "1: other.md#same-2: docs/other.md has no heading for #same-2"},
		{"[source](../store/store.go#Store)", "1: ../store/store.go#Store: store/store.go is no Markdown file"},
		{"[folder](../store#x)", "1: ../store#x: cannot read a page"},
		{"[ref]: gone.md", "1: gone.md: there is no docs/gone.md"},
		{"<a href=\"gone.md\">x</a>", "1: gone.md: there is no docs/gone.md"},
		{"<img alt='x' src='gone.png'>", "1: gone.png: there is no docs/gone.png"},
		{"<!-- a\nb -->\n[after a comment](gone.md)", "3: gone.md: there is no docs/gone.md"},
		{"```\ncode\n```\n[after a block](gone.md)", "4: gone.md: there is no docs/gone.md"},
	} {
		got := broken(t, c.text)
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestSlug(t *testing.T) {
	for _, c := range []struct{ heading, want string }{
		{"Which algorithm when?", "which-algorithm-when"},
		{"1. The repository", "1-the-repository"},
		{"`token_bucket`: smooth", "token_bucket-smooth"},
		{"A & B / C", "a--b--c"},
		{"The *right* **way**, _now_ and __then__", "the-right-way-now-and-then"},
		{"snake_case_name", "snake_case_name"},
		{"`_private_` and `a*b`", "_private_-and-ab"},
		{"[Link](x.md) and [ref][x]", "link-and-ref"},
		{"Größe – 50 %", "größe--50-"},
		{"x/time/rate's verbs", "xtimerates-verbs"},
		{"<a name=\"x\"></a>Tag", "tag"},
		{"already-hyphenated", "already-hyphenated"},
	} {
		if got := slug(c.heading); got != c.want {
			t.Errorf("slug(%q) = %q, want %q", c.heading, got, c.want)
		}
	}
}

func TestHeadings(t *testing.T) {
	p := parsePage("# One #\n\nTwo\n===\n\nThree\n---\n\n# One\n# One\n#none\n```\n# code\n```\n" +
		"| a |\n---\n\n- list\n---\n\n# One-1\n\r\n## Four\r\n")
	var got []string
	for anchor := range p.anchors {
		got = append(got, anchor)
	}
	slices.Sort(got)
	want := []string{"four", "one", "one-1", "one-1-1", "one-2", "three", "two"}
	if !slices.Equal(got, want) {
		t.Errorf("anchors:\n got %q\nwant %q", got, want)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "README.md")
	for _, c := range []struct {
		text, want string
		code       int
	}{
		{"[x](README.md)", "links: 1 files, 1 links, 0 broken\n", 0},
		{"[x](gone.md)", "README.md:1: gone.md: there is no gone.md\nlinks: 1 files, 1 links, 1 broken\n", 1},
	} {
		if err := os.WriteFile(page, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{dir}, &stdout, &stderr); code != c.code || stdout.String() != c.want {
			t.Errorf("%q: exit code %d, printed %q %q; want %d, %q", c.text, code, &stdout, &stderr, c.code, c.want)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{filepath.Join(dir, "nowhere")}, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
		t.Errorf("missing folder: exit code %d, printed %q, want 2 and a message", code, &stderr)
	}
	stderr.Reset()
	if code := run([]string{"-help"}, &stdout, &stderr); code != 0 || !strings.HasPrefix(stderr.String(), "usage: links") {
		t.Errorf("-help: exit code %d, printed %q, want the usage", code, &stderr)
	}
}
