package accesslog

import "strings"

// combined is Apache's and nginx's common and combined format, and what people make of
// it: more fields at the end, all of it in quotes, quotes and bytes escaped or not.
type combined struct{}

// Name implements Format.
func (combined) Name() string { return "combined" }

// Parser implements Format.
func (combined) Parser() Parser { return &combinedParser{} }

type combinedParser struct{ clock stampCache }

// Parse implements Parser:
//
//	client ident user [time] "request" status bytes "referer" "agent" more
func (p *combinedParser) Parse(line string, e *Entry) Reason {
	e.reset()
	if len(line) > 1 && line[0] == '"' && line[len(line)-1] == '"' {
		line = unwrap(line)
	}
	client, rest, ok := strings.Cut(line, " ")
	if !ok {
		return Shape
	}
	open := strings.IndexByte(rest, '[')
	if open < 0 {
		return Shape
	}
	who := rest[:open]
	rest = rest[open+1:]
	shut := strings.IndexByte(rest, ']')
	if shut < 0 {
		return Shape
	}
	if e.Time, ok = p.clock.common(rest[:shut]); !ok {
		return BadTime
	}
	e.Coarse = true
	if e.IP, ok = parseAddr(client); !ok {
		if !plausibleHost(client) {
			return BadIP
		}
		e.More = append(e.More, Field{"attribute:client", client})
	}
	e.User = userOf(who)
	return p.tail(rest[shut+1:], e)
}

// tail reads what stands after the time.
func (p *combinedParser) tail(rest string, e *Entry) Reason {
	request, rest, ok := quoted(rest)
	if !ok {
		return Shape
	}
	setRequest(e, request)
	status, rest := word(rest)
	if e.Status, ok = smallNumber(status); !ok {
		return BadNumber
	}
	size, rest := word(rest)
	if e.Bytes, ok = number(size); !ok {
		return BadNumber
	}
	referer, rest, ok := quoted(rest)
	if !ok {
		return "" // common
	}
	if referer != "-" && referer != "" {
		e.More = append(e.More, Field{"header:Referer", referer})
	}
	if agent, _, ok := quoted(rest); ok && agent != "-" {
		e.Agent = agent
	}
	return ""
}

// userOf finds the user between the client and the time: "ident user ". A user may hold
// spaces, an ident hardly ever does.
func userOf(who string) string {
	if who == "- - " {
		return ""
	}
	_, user, _ := strings.Cut(strings.TrimSuffix(who, " "), " ")
	if user == "-" || user == `""` {
		return ""
	}
	return user
}

// unwrap takes a whole line out of the quotes in which some exports put it, with the
// quotes inside doubled or escaped. Other lines come back as they are.
func unwrap(line string) string {
	inner := line[1 : len(line)-1]
	doubled := strings.Contains(inner, `""`)
	if !doubled && !strings.Contains(inner, `\"`) {
		return line
	}
	client, _, _ := strings.Cut(inner, " ")
	if strings.IndexByte(client, '"') >= 0 { // the first field alone is in quotes
		return line
	}
	if doubled {
		return strings.ReplaceAll(inner, `""`, `"`)
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// setRequest takes a request line apart: "GET /path?query HTTP/1.1". What is no such
// line, such as the bytes of a TLS handshake, stays as the path: it was a request too.
func setRequest(e *Entry, request string) {
	if request == "-" {
		return
	}
	method, target, ok := strings.Cut(request, " ")
	if !ok || !isMethod(method) {
		e.Path = request
		return
	}
	e.Method = method
	if i := strings.LastIndexByte(target, ' '); i >= 0 && strings.HasPrefix(target[i+1:], "HTTP/") {
		target = target[:i]
	}
	setTarget(e, target)
}

// setTarget takes a request's target apart: a path and a query, or a whole URL.
func setTarget(e *Entry, target string) {
	if target != "" && target[0] != '/' {
		if _, rest, ok := strings.Cut(target, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			if e.Host == "" {
				e.Host = host
			}
			target = rest[len(host):]
		}
	}
	if i := strings.IndexByte(target, '?'); i >= 0 {
		e.Path, e.Query = target[:i], target[i+1:]
		return
	}
	e.Path = target
}
