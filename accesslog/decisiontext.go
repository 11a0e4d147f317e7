package accesslog

import (
	"strconv"
	"strings"
)

// decisionText is our own log of decisions as text: time=… level=INFO msg=decision …
type decisionText struct {
	slots slots
	set   Settings
}

func newDecisionText(s Settings) (Format, error) {
	all, err := sluiceFields.with(s.Fields)
	return &decisionText{all, s}, err
}

// Name implements Format.
func (*decisionText) Name() string { return "sluice-text" }

// Parser implements Format.
func (d *decisionText) Parser() Parser {
	return &decisionTextParser{slots: d.slots, setter: setter{zone: d.set.Zone}}
}

type decisionTextParser struct {
	setter
	slots slots
}

// Parse implements Parser.
func (p *decisionTextParser) Parse(line string, e *Entry) Reason {
	p.begin(e)
	for rest := line; rest != ""; {
		name, value, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsAny(name, `" `) {
			return Shape
		}
		if value, rest, ok = pairValue(value); !ok {
			return Shape
		}
		if to, ok := p.slots[name]; ok {
			if r := p.set(e, to, value); r != "" {
				return r
			}
		}
	}
	return p.end(e)
}

// pairValue returns a value, in quotes if need be, and what comes after it.
func pairValue(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		value, rest, _ = strings.Cut(text, " ")
		return value, rest, true
	}
	inner, rest, ok := quoted(text)
	if !ok || rest != "" && rest[0] != ' ' {
		return "", "", false
	}
	rest = strings.TrimPrefix(rest, " ")
	if strings.IndexByte(inner, '\\') < 0 {
		return inner, rest, true
	}
	value, err := strconv.Unquote(`"` + inner + `"`)
	return value, rest, err == nil
}
