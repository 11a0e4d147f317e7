package rulefile

import (
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// TestRequest is a request of a test. In a file it is a map of these fields, or text:
//
//	POST /login?next=1 ip=192.0.2.1 user=ann host=example.com header:X-Api-Key=abc
//	cookie:sid=1 attribute:plan=free length=2048 cost=3 header:User-Agent="two words"
type TestRequest struct {
	Method     string            `json:"method,omitempty"` // GET if not given
	Path       string            `json:"path,omitempty"`   // as a client sends it, with or without a query; / if not given
	Host       string            `json:"host,omitempty"`
	IP         netip.Addr        `json:"ip,omitzero"`
	User       string            `json:"user,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Cookies    map[string]string `json:"cookies,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	Length     int64             `json:"length,omitempty"` // of the body; -1 if it is not known
	Cost       int64             `json:"cost,omitempty"`
}

// ParseRequest reads the form of one line.
func ParseRequest(text string) (TestRequest, error) {
	t, column, err := parseRequest(text)
	if err != nil {
		return t, fmt.Errorf("request %q: character %d: %w", text, column+1, err)
	}
	return t, nil
}

// Request returns it as rules see it.
func (t TestRequest) Request() rule.Request {
	r := rule.Request{
		Method: t.Method, Host: t.Host, IP: t.IP, User: t.User, Attributes: t.Attributes, Length: t.Length, Cost: t.Cost,
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	r.Path, r.Query, _ = strings.Cut(t.Path, "?")
	if r.Path == "" {
		r.Path = "/"
	}
	header := http.Header{}
	for name, value := range t.Headers {
		header.Set(name, value)
	}
	for name, value := range t.Cookies {
		if line := header.Get("Cookie"); line != "" {
			value = value + "; " + line
		}
		header.Set("Cookie", name+"="+value)
	}
	r.Header = header
	return r
}

// testRequest reads both forms.
func testRequest(d *decoder, n *node, v reflect.Value, path string) {
	switch n.kind {
	case mapKind:
		d.structure(n, v, path)
	case textKind:
		t, column, err := parseRequest(n.text)
		if err != nil {
			at := *n
			at.line, at.column = n.within(0, column)
			d.fail(&at, path, err.Error(), "write POST /login ip=192.0.2.1 user=ann header:X-Api-Key=abc")
			return
		}
		v.Set(reflect.ValueOf(t))
	default:
		d.wrongKind(n, path, "a request", "write POST /login ip=192.0.2.1")
	}
}

// parseRequest reads the compact form. An error comes with the column of the word, from
// 0 and in characters.
func parseRequest(text string) (t TestRequest, column int, err error) {
	words, starts, err := splitWords(text)
	if err != nil {
		return t, starts[len(starts)-1], err
	}
	for i, word := range words {
		name, value, assigns := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "/") && t.Path == "":
			t.Path = word
		case i == 0 && !assigns:
			t.Method = word
		case !assigns:
			return t, starts[i], fmt.Errorf("%q is neither a path nor name=value", word)
		default:
			if err := t.set(name, value); err != nil {
				return t, starts[i], err
			}
		}
	}
	return t, 0, nil
}

// set fills the field that a name of the compact form stands for.
func (t *TestRequest) set(name, value string) (err error) {
	kind, inner, _ := strings.Cut(name, ":")
	put := func(m *map[string]string) {
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[inner] = value
	}
	switch {
	case inner == "":
	case kind == "header":
		put(&t.Headers)
		return nil
	case kind == "cookie":
		put(&t.Cookies)
		return nil
	case kind == "attribute":
		put(&t.Attributes)
		return nil
	}
	switch name {
	case "ip":
		t.IP, err = netip.ParseAddr(value)
	case "user":
		t.User = value
	case "host":
		t.Host = value
	case "length":
		t.Length, err = strconv.ParseInt(value, 10, 64)
	case "cost":
		t.Cost, err = strconv.ParseInt(value, 10, 64)
	default:
		return fmt.Errorf("a request has no %q: %s", name, suggest(name, []string{"ip", "user", "host", "length", "cost", "header:", "cookie:", "attribute:"}))
	}
	if err != nil {
		return fmt.Errorf("%s cannot be %q", name, value)
	}
	return nil
}

// splitWords cuts at blanks outside of double quotes, which are removed. It returns also
// where each word starts.
func splitWords(text string) (words []string, starts []int, err error) {
	var word strings.Builder
	quoted, begun := false, false
	for i, r := range []rune(text + " ") {
		switch {
		case r == '"':
			if !begun {
				starts = append(starts, i)
			}
			quoted, begun = !quoted, true
		case !quoted && (r == ' ' || r == '\n' || r == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			if !begun {
				starts = append(starts, i)
			}
			begun = true
			word.WriteRune(r)
		}
	}
	if quoted {
		return nil, starts, fmt.Errorf("a quote is not closed")
	}
	return words, starts, nil
}
