package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	linkText = regexp.MustCompile(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	tag      = regexp.MustCompile(`</?[a-zA-Z][^>]*>`)
	// emphasis is _text_ between word boundaries; underscores inside words stay.
	emphasis = regexp.MustCompile(`(^|[^\pL\pN_])(__?)([^\s_](?:[^_]*[^\s_])?)(__?)($|[^\pL\pN_])`)
)

// heading gives out the anchor of a heading. The second heading with the same text gets the
// suffix -1, the third -2, and so on.
func (p *page) heading(text string) {
	base := slug(text)
	name := base
	for {
		if _, taken := p.slugs[name]; !taken {
			break
		}
		p.slugs[base]++
		name = base + "-" + strconv.Itoa(p.slugs[base])
	}
	p.slugs[name] = 0
	p.anchors[name] = true
}

// slug turns the text of a heading into its anchor, as GitHub does: the text as shown, in
// lower case, without punctuation other than - and _, with - for each space.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(shown(text))) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shown strips the marks of Markdown that a reader does not see. Code spans stay as they are.
func shown(text string) string {
	var b strings.Builder
	rest := text
	for {
		span := codeSpan.FindStringSubmatchIndex(rest)
		if span == nil {
			return b.String() + shownText(rest)
		}
		b.WriteString(shownText(rest[:span[0]]))
		b.WriteString(rest[span[4]:span[5]])
		rest = rest[span[1]:]
	}
}

// shownText strips links, tags and emphasis from text without code spans.
func shownText(text string) string {
	text = linkText.ReplaceAllString(text, "$1")
	text = tag.ReplaceAllString(text, "")
	return emphasis.ReplaceAllString(text, "$1$3$5")
}
