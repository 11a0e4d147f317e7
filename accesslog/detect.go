package accesslog

import (
	"slices"
	"strings"
)

// detectLines is at how many lines Detect looks.
const detectLines = 64

// Detect finds out in which format a text is written, by reading its first lines in
// each. It returns nil if none can read a third of them, those left aside that it knows to
// be about something else.
func Detect(text string, s Settings) Format {
	lines := firstLines(text)
	if len(lines) == 0 {
		return nil
	}
	if strings.HasPrefix(lines[0], "#") {
		f, err := newW3C(s)
		if err != nil || !strings.Contains(text, "#Fields:") {
			return nil
		}
		return f
	}
	var best Format
	score, about := 0, 0
	for _, f := range candidates(lines, s) {
		if n, requests := fits(f, lines); n > score {
			best, score, about = f, n, requests
		}
	}
	if score*3 < about*weight {
		return nil
	}
	return best
}

// weight is what a line that fits counts; fields that were found count on top, so that
// of two formats the one is taken that understands more.
const weight = 16

// fits tells how well lines fit a format, and how many of them should be requests.
func fits(f Format, lines []string) (score, about int) {
	if h, ok := f.(headed); ok {
		if next, ok := h.directive(lines[0], true); ok {
			f, lines = next, lines[1:]
		}
	}
	p := f.Parser()
	var e Entry
	for _, line := range lines {
		reason := parseLine(p, line, &e)
		if reason != Other {
			about++
		}
		if reason != "" {
			continue
		}
		score += weight
		for _, known := range []bool{e.IP.IsValid(), e.Path != "", e.Method != "", e.Status != 0, e.Agent != "", e.Host != "", e.Key != ""} {
			if known {
				score++
			}
		}
	}
	return score, about
}

// candidates are the formats in which lines could be written.
func candidates(lines []string, s Settings) (list []Format) {
	add := func(name string) {
		if f, err := Lookup(name, s); err == nil {
			list = append(list, f)
		}
	}
	isObject := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "{") }
	if slices.ContainsFunc(lines, isObject) { // a server may say hello before
		for _, p := range jsonPresets {
			add(p.name)
		}
		add("json")
	}
	line := lines[0]
	add("combined")
	add("alb")
	if strings.Contains(line, "msg=") {
		add("sluice-text")
	}
	if strings.Contains(line, "\t") {
		add("tsv")
	}
	if strings.Contains(line, ",") {
		add("csv")
	}
	return list
}

// firstLines returns the first lines that are not blank.
func firstLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if lines = append(lines, line); len(lines) == detectLines {
			break
		}
	}
	return lines
}
