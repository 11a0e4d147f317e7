package accesslog

import (
	"fmt"
	"strings"
)

// nginxFormat is a log_format of nginx: variables with text between them.
type nginxFormat struct {
	text   string
	prefix string // before the first variable
	pieces []nginxPiece
	set    Settings
}

// nginxPiece is a variable and the text after it.
type nginxPiece struct {
	slot  slot
	until string // empty only at the end
	quote bool   // it stands in quotes
}

// NginxFormat reads a log_format of nginx, such as
//
//	$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_user_agent" $request_time
//
// Variables that say nothing about the request are passed over. The whole of a line
// need not be described: what comes after the last text is not looked at.
func NginxFormat(text string, s Settings) (Format, error) {
	if _, err := nginxFields.with(s.Fields); err != nil {
		return nil, err
	}
	f := &nginxFormat{text: text, set: s}
	var names []string
	var between []string
	f.prefix, names, between = splitVariables(text)
	if len(names) == 0 {
		return nil, fmt.Errorf("accesslog: log_format %q has no variables", text)
	}
	for i, name := range names {
		if between[i] == "" && i < len(names)-1 {
			return nil, fmt.Errorf("accesslog: log_format: nothing stands between $%s and $%s, so that nobody can tell where one ends", name, names[i+1])
		}
		before := f.prefix
		if i > 0 {
			before = between[i-1]
		}
		f.pieces = append(f.pieces, nginxPiece{variableSlot(name, s.Fields), between[i], strings.HasSuffix(before, `"`)})
	}
	return f, f.check()
}

func (f *nginxFormat) check() error {
	for i := range f.pieces {
		if f.pieces[i].slot.meaning == isTime {
			return nil
		}
	}
	return fmt.Errorf("accesslog: log_format %q has no time: it needs $time_local, $time_iso8601 or $msec", f.text)
}

// splitVariables takes a log_format apart: the text before the first variable, the
// names, and the text after each.
func splitVariables(text string) (prefix string, names, after []string) {
	prefix, rest, found := strings.Cut(text, "$")
	for found {
		var name, literal string
		if strings.HasPrefix(rest, "{") {
			name, rest, _ = strings.Cut(rest[1:], "}")
		} else {
			end := 0
			for end < len(rest) && isNameByte(rest[end]) {
				end++
			}
			name, rest = rest[:end], rest[end:]
		}
		literal, rest, found = strings.Cut(rest, "$")
		names, after = append(names, name), append(after, literal)
	}
	return prefix, names, after
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c-'0' <= 9 || c == '_'
}

// variableSlot says where a variable goes. Settings name variables without the dollar.
func variableSlot(name string, more map[string]string) slot {
	for want, field := range more {
		if strings.TrimPrefix(field, "$") == name {
			if to, err := slotOf(want); err == nil {
				to.rank = 255
				return to
			}
		}
	}
	if to, ok := nginxFields[name]; ok {
		return to
	}
	switch {
	case name == "realip_remote_addr":
		return slot{}
	case name == "http_x_forwarded_for":
		return slot{meaning: isMore, name: "header:X-Forwarded-For"}
	case strings.HasPrefix(name, "http_"):
		return slot{meaning: isMore, name: headerPrefix + strings.ReplaceAll(name[len("http_"):], "_", "-")}
	case strings.HasPrefix(name, "cookie_"):
		return slot{meaning: isMore, name: cookiePrefix + name[len("cookie_"):]}
	}
	return slot{}
}

// Name implements Format.
func (f *nginxFormat) Name() string { return f.text }

// Parser implements Format.
func (f *nginxFormat) Parser() Parser {
	return &nginxParser{nginxFormat: f, setter: setter{zone: f.set.Zone}}
}

type nginxParser struct {
	*nginxFormat
	setter
}

// Parse implements Parser.
func (p *nginxParser) Parse(line string, e *Entry) Reason {
	p.begin(e)
	rest, ok := strings.CutPrefix(line, p.prefix)
	if !ok {
		return Shape
	}
	for i := range p.pieces {
		piece := &p.pieces[i]
		value := rest
		if piece.until != "" {
			end := piece.end(rest)
			if end < 0 {
				return Shape
			}
			value, rest = rest[:end], rest[end+len(piece.until):]
		}
		if r := p.setter.set(e, piece.slot, value); r != "" {
			return r
		}
	}
	return p.setter.end(e)
}

// end finds where a variable ends.
func (p *nginxPiece) end(text string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], p.until)
		if i < 0 {
			return -1
		}
		i += from
		if !p.quote || p.until[0] != '"' || !isEscaped(text, i) {
			return i
		}
		from = i + 1
	}
}
