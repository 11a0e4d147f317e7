package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A result counts what was looked at and lists what is broken, as "file:line: why".
type result struct {
	files, links int
	broken       []string
}

// A checker holds the repository and the pages parsed so far.
type checker struct {
	fsys  fs.FS
	pages map[string]*page
}

// check follows the links of all Markdown files in fsys.
func check(fsys fs.FS) (result, error) {
	names, err := markdownFiles(fsys)
	if err != nil {
		return result{}, err
	}
	c := &checker{fsys: fsys, pages: map[string]*page{}}
	var r result
	for _, name := range names {
		p, err := c.page(name)
		if err != nil {
			return result{}, err
		}
		r.files++
		for _, l := range p.links {
			r.links++
			if why := c.follow(name, l.target); why != "" {
				r.broken = append(r.broken, fmt.Sprintf("%s:%d: %s: %s", name, l.line, l.target, why))
			}
		}
	}
	return r, nil
}

// skipped are folders whose Markdown is not the repository's own, or broken on purpose.
var skipped = []string{".git", ".out", "node_modules", "testdata", "vendor"}

func markdownFiles(fsys fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot walk the repository: %w", err)
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && isMarkdown(name):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func isMarkdown(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }

// page parses a Markdown file, once.
func (c *checker) page(name string) (*page, error) {
	if p := c.pages[name]; p != nil {
		return p, nil
	}
	text, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return nil, fmt.Errorf("cannot read a page: %w", err)
	}
	p := parsePage(string(text))
	c.pages[name] = p
	return p, nil
}

var (
	scheme     = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*:|//)`)
	lineAnchor = regexp.MustCompile(`^L[0-9]+(-L[0-9]+)?$`)
)

// follow says why a link of the page "from" leads nowhere, or nothing if it does not.
func (c *checker) follow(from, target string) string {
	if scheme.MatchString(target) {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	file, _, _ = strings.Cut(file, "?")
	file, err := url.PathUnescape(file)
	if err != nil {
		return "the path is not escaped correctly"
	}
	name := resolve(from, file)
	if !fs.ValidPath(name) {
		return "leads out of the repository"
	}
	info, err := fs.Stat(c.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no " + name
	}
	if err != nil {
		return err.Error()
	}
	if !hasAnchor || anchor == "" {
		return ""
	}
	if info.IsDir() {
		name = path.Join(name, "README.md")
	}
	return c.followAnchor(name, anchor)
}

// resolve gives the path from the repository's root of a link in the page "from".
func resolve(from, file string) string {
	switch {
	case file == "":
		return from
	case strings.HasPrefix(file, "/"):
		return path.Join(".", file[1:])
	}
	return path.Join(path.Dir(from), file)
}

// followAnchor says why there is no such anchor in the file, or nothing if there is.
func (c *checker) followAnchor(name, anchor string) string {
	if !isMarkdown(name) {
		if lineAnchor.MatchString(anchor) {
			return ""
		}
		return name + " is no Markdown file, so that only #L and a line number can follow"
	}
	p, err := c.page(name)
	if err != nil {
		return err.Error()
	}
	if plain, err := url.PathUnescape(anchor); err == nil {
		anchor = plain
	}
	if !p.anchors[anchor] && !p.anchors[strings.ToLower(anchor)] {
		return name + " has no heading for #" + anchor
	}
	return ""
}
