package main

import (
	"regexp"
	"strings"
)

// A link is where something points to, and the line on which it does.
type link struct {
	target string
	line   int
}

// A page is what matters of a Markdown file: where it points to and what can be pointed at.
type page struct {
	links   []link
	anchors map[string]bool
	slugs   map[string]int // the anchors of headings, and the last suffix given out for each
}

var (
	fence     = regexp.MustCompile("^ {0,3}(?:>\\s*)*(?:[-*+]\\s+|[0-9]+[.)]\\s+)?\\s*(```+|~~~+)")
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	underline = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	codeSpan  = regexp.MustCompile("(`+)(.+?)(`+)")
	// inline finds [text](target "title"), image or not; targets may hold one pair of parentheses.
	inline = regexp.MustCompile(`\]\(\s*(?:<([^>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)`)
	// definition finds [name]: target; footnotes ([^name]: text) are none.
	definition = regexp.MustCompile(`^ {0,3}\[([^\]^][^\]]*)\]:\s*(?:<([^>]*)>|(\S+))`)
	attribute  = regexp.MustCompile(`(?i)<[a-z][^>]*?\s(href|src|id|name)\s*=\s*["']([^"']*)["']`)
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// parsePage reads a Markdown file line by line, leaving out code blocks and comments.
func parsePage(text string) *page {
	p := &page{anchors: map[string]bool{}, slugs: map[string]int{}}
	text = comment.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	open, previous := "", ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if marks := fence.FindStringSubmatch(line); marks != nil {
			open, previous = toggle(open, marks[1]), ""
			continue
		}
		if open != "" {
			continue
		}
		p.line(line, previous, i+1)
		previous = line
	}
	return p
}

// toggle returns the marks of the code block that is open after a line with the given marks:
// a block ends at marks of its own kind that are at least as long.
func toggle(open, marks string) string {
	switch {
	case open == "":
		return marks
	case strings.HasPrefix(marks, open):
		return ""
	}
	return open
}

// line takes headings and links from one line of running text.
func (p *page) line(line, previous string, number int) {
	if match := heading.FindStringSubmatch(line); match != nil {
		p.heading(match[1])
	} else if underline.MatchString(line) && isParagraph(previous) {
		p.heading(previous)
	}
	plain := codeSpan.ReplaceAllString(line, "``")
	if match := definition.FindStringSubmatch(plain); match != nil {
		p.link(match[2]+match[3], number)
	}
	for _, match := range inline.FindAllStringSubmatch(plain, -1) {
		p.link(match[1]+match[2], number)
	}
	for _, match := range attribute.FindAllStringSubmatch(plain, -1) {
		switch strings.ToLower(match[1]) {
		case "href", "src":
			p.link(match[2], number)
		default:
			p.anchors[match[2]] = true
		}
	}
}

func (p *page) link(target string, line int) {
	p.links = append(p.links, link{target: target, line: line})
}

// isParagraph tells whether an underline makes the line a heading. Tables and lists are none.
func isParagraph(line string) bool {
	trimmed := strings.TrimSpace(line)
	return trimmed != "" && !strings.ContainsAny(trimmed[:1], "|#>-*+") && !strings.HasPrefix(line, "    ")
}
