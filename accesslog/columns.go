package accesslog

import (
	"strings"
	"time"
)

// columns is a format whose lines are values between separators, in the order that a
// header or the format itself says.
type columns struct {
	name    string
	comma   byte
	columns []slot
	head    slots // by name of the column, for headers
	zone    *time.Location
	w3c     bool // lines with # are directives
	doubled bool // a quote inside quotes is doubled, not escaped
}

// w3cFields are the columns of W3C's extended format, of IIS and of CloudFront.
var w3cFields = slots{
	"date": {meaning: isDate}, "time": {meaning: isClock}, "c-ip": {meaning: isIP}, "cs-username": {meaning: isUser},
	"cs-method": {meaning: isVerb}, "cs-uri-stem": {meaning: isPath}, "cs-uri-query": {meaning: isQuery}, "cs-uri": {meaning: isTarget},
	"cs-host": {meaning: isHost, rank: 1}, "cs(host)": {meaning: isHost}, "x-host-header": {meaning: isHost, rank: 2},
	"sc-status": {meaning: isStatus}, "sc-bytes": {meaning: isBytes}, "cs-bytes": {meaning: isLength},
	"cs(user-agent)": {meaning: isEncodedAgent}, "time-taken": {meaning: isTaken},
	"cs(referer)": {meaning: isMore, name: "header:Referer"}, "cs(cookie)": {meaning: isMore, name: "header:Cookie"},
}

// albColumns are those of an Application Load Balancer of AWS, up to the last we use: the
// first time is that of the answer, the second that of the request.
var albColumns = []slot{
	{},
	{meaning: isTime},
	{},
	{meaning: isIP},
	{},
	{},
	{meaning: isSeconds},
	{},
	{meaning: isStatus},
	{},
	{meaning: isLength},
	{meaning: isBytes},
	{meaning: isRequest},
	{meaning: isAgent},
	{},
	{},
	{},
	{},
	{meaning: isHost},
	{},
	{},
	{meaning: isTime, rank: 1},
}

func newW3C(s Settings) (Format, error) {
	head, err := w3cFields.with(s.Fields)
	return &columns{name: "w3c", comma: ' ', head: head, zone: s.Zone, w3c: true}, err
}

func newALB(s Settings) (Format, error) {
	return &columns{name: "alb", comma: ' ', columns: albColumns, zone: s.Zone}, nil
}

// newCSV returns the format of a table whose first line names the columns. Their names
// are the meanings themselves, other usual names, or what the settings say.
func newCSV(comma byte, s Settings) (Format, error) {
	head, err := tableFields().with(s.Fields)
	name := "csv"
	if comma == '\t' {
		name = "tsv"
	}
	return &columns{name: name, comma: comma, head: head, zone: s.Zone, doubled: true}, err
}

// tableFields are names of columns and JSON fields that mean the same everywhere.
func tableFields() slots {
	s := slots{}
	for name, m := range meaningNames {
		s[name] = slot{meaning: m, rank: 2}
	}
	for field, to := range usualFields {
		s[field] = to
	}
	return s
}

// Name implements Format.
func (c *columns) Name() string { return c.name }

// Parser implements Format.
func (c *columns) Parser() Parser { return &columnParser{columns: c, setter: setter{zone: c.zone}} }

// directive implements headed.
func (c *columns) directive(line string, first bool) (Format, bool) {
	if c.w3c {
		fields, ok := strings.CutPrefix(line, "#Fields:")
		if !ok {
			return nil, false
		}
		next := *c
		next.columns = c.named(strings.Fields(fields))
		if next.comma = ' '; strings.Contains(fields, "\t") {
			next.comma = '\t'
		}
		if strings.Contains(fields, "x-edge-location") {
			next.comma, next.name = '\t', "cloudfront"
		}
		return &next, true
	}
	if !first || c.columns != nil {
		return nil, false
	}
	var names []string
	next := *c
	_ = c.split(line, func(_ int, name string) Reason {
		names = append(names, strings.TrimSpace(name))
		return ""
	})
	next.columns = c.named(names)
	return &next, true
}

// named finds the slots of columns. Names are compared without regard to case.
func (c *columns) named(names []string) []slot {
	list := make([]slot, len(names))
	for i, name := range names {
		to, ok := c.head[name]
		if !ok {
			to, ok = c.head[strings.ToLower(name)]
		}
		if header, is := strings.CutPrefix(strings.ToLower(name), "cs("); !ok && is && c.w3c {
			to = slot{meaning: isMore, name: headerPrefix + strings.TrimSuffix(header, ")")}
		}
		list[i] = to
	}
	return list
}

// split calls fn with each value of a line, until it returns a reason.
func (c *columns) split(line string, fn func(i int, value string) Reason) Reason {
	for i := 0; ; i++ {
		var value string
		if line != "" && line[0] == '"' && (c.comma != '\t' || c.doubled) {
			var ok bool
			if value, line, ok = c.quoted(line); !ok {
				return Shape
			}
		} else if end := strings.IndexByte(line, c.comma); end >= 0 {
			value, line = line[:end], line[end:]
		} else {
			value, line = line, ""
		}
		if r := fn(i, value); r != "" {
			return r
		}
		if line == "" {
			return ""
		}
		if line[0] != c.comma {
			return Shape
		}
		line = line[1:]
		if c.comma == ' ' {
			if line = strings.TrimLeft(line, " "); line == "" {
				return ""
			}
		}
	}
}

// quoted returns a value in quotes, and what comes after it.
func (c *columns) quoted(line string) (value, rest string, ok bool) {
	if !c.doubled {
		return quoted(line)
	}
	for from := 1; ; {
		i := strings.IndexByte(line[from:], '"')
		if i < 0 {
			return "", "", false
		}
		i += from
		if i+1 >= len(line) || line[i+1] != '"' {
			return strings.ReplaceAll(line[1:i], `""`, `"`), line[i+1:], true
		}
		from = i + 2
	}
}

type columnParser struct {
	*columns
	setter
	entry  *Entry
	values int // of the line
}

// Parse implements Parser.
func (p *columnParser) Parse(line string, e *Entry) Reason {
	p.begin(e)
	if p.w3c && line[0] == '#' {
		return Directive
	}
	if p.columns.columns == nil {
		return Shape
	}
	p.entry, p.values = e, 0
	if r := p.split(line, p.field); r != "" {
		return r
	}
	if p.w3c && p.values != len(p.columns.columns) {
		return Shape // what is left out has a dash: nobody knows which column is which
	}
	return p.end(e)
}

func (p *columnParser) field(i int, value string) Reason {
	p.values = i + 1
	if i >= len(p.columns.columns) {
		return ""
	}
	return p.set(p.entry, p.columns.columns[i], value)
}
