package replay

import (
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/rule"
)

// Translator makes the requests that rules look at of entries. What it makes is good
// until the next.
type Translator struct {
	request    rule.Request
	header     header
	attributes map[string]string
	pathless   bool // nobody looks at paths, whose canonical form costs a fifth of a decision
}

// looksAtPaths reports whether a decision can depend on the path.
func looksAtPaths(set *rule.Set) bool {
	return slices.ContainsFunc(set.Rules(), func(c *rule.Compiled) bool {
		inKey := func(part string) bool { return part == "path" || strings.HasPrefix(part, "path:") }
		return len(c.Match.Paths) > 0 || c.Match.When != "" || slices.ContainsFunc(c.Key, inKey)
	})
}

// Request returns the request of an entry. The address that a log of decisions names is
// the attribute "key", the name of a host in place of an address the attribute "client".
func (t *Translator) Request(e *accesslog.Entry) *rule.Request {
	t.header.entry = e
	t.request = rule.Request{
		Method: e.Method, Host: e.Host, Path: e.Path, Query: e.Query, IP: e.IP, User: e.User,
		Header: &t.header, Length: e.Length, Cost: e.Cost,
	}
	if t.pathless {
		t.request.Path = ""
	}
	if len(e.More) > 0 || e.Key != "" {
		t.attribute(e)
	}
	return &t.request
}

// attribute passes on attributes.
func (t *Translator) attribute(e *accesslog.Entry) {
	clear(t.attributes)
	set := func(name, value string) {
		if t.attributes == nil {
			t.attributes = map[string]string{}
		}
		t.attributes[name] = value
	}
	for _, f := range e.More {
		if name, ok := strings.CutPrefix(f.Name, "attribute:"); ok {
			set(name, f.Value)
		}
	}
	if e.Key != "" {
		set("key", e.Key)
	}
	if len(t.attributes) > 0 {
		t.request.Attributes = t.attributes
	}
}

// header implements rule.Getter.
type header struct{ entry *accesslog.Entry }

// Get implements rule.Getter.
func (h *header) Get(name string) string {
	if value := h.entry.Header(name); value != "" || !strings.EqualFold(name, "Cookie") {
		return value
	}
	var line []string
	for _, f := range h.entry.More {
		if cookie, ok := strings.CutPrefix(f.Name, "cookie:"); ok {
			line = append(line, cookie+"="+f.Value)
		}
	}
	return strings.Join(line, "; ")
}
