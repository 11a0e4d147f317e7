package accesslog

import (
	"strings"
	"time"
)

// combined is Apache's and nginx's common and combined format, and what people make of
// it: more fields at the end, all of it in quotes, quotes and bytes escaped or not, the
// virtual host or a list of forwarders before it.
type combined struct{ zone *time.Location }

// Name implements Format.
func (combined) Name() string { return "combined" }

// Parser implements Format.
func (c combined) Parser() Parser { return &combinedParser{zone: c.zone} }

type combinedParser struct {
	clock stampCache
	zone  *time.Location
}

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
	if e.Time, e.Coarse, ok = p.clock.common(rest[:shut], p.zone); !ok {
		return BadTime
	}
	if e.IP, ok = parseAddr(client); !ok || who != "" && who[0] != '-' {
		if who, ok = unusualClient(e, client, who); !ok {
			return BadIP
		}
	}
	e.User = userOf(who)
	return p.tail(rest[shut+1:], e)
}

// unusualClient reads what stands in the place of the client if that is not an address
// alone: the virtual host before it, the forwarders after it, or a name. It returns the
// rest of who. The entry has the address if client is one.
func unusualClient(e *Entry, client, who string) (rest string, ok bool) {
	if first, more, list := strings.Cut(client, ","); list {
		for more == "" || strings.HasSuffix(more, ",") {
			if more, who = word(who); more == "" {
				return "", false
			}
		}
		e.IP, ok = parseAddr(first)
		return strings.TrimPrefix(who, " "), ok
	}
	next, rest := word(who)
	if ip, ok := parseAddr(next); ok { // nobody's ident is one
		e.Host, e.IP = client, ip
		return strings.TrimPrefix(rest, " "), true
	}
	if !e.IP.IsValid() {
		if !plausibleHost(client) {
			return "", false
		}
		e.More = append(e.More, Field{"attribute:client", client})
	}
	return who, true
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
	if method != "-" {
		e.Method = method
	} else {
		target = strings.TrimSuffix(target, "- ") // a load balancer that could not read it
	}
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
