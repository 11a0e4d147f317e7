package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// decodeStrict reads a body into a struct by encoding/json, and refuses what that would
// let pass: names in another case, names that stand there twice, null for the whole,
// and text that is not UTF-8.
func decodeStrict(body []byte, into any) *Problem {
	start := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(start) == 0:
		return invalidBody("the body is empty", "send an object of JSON: {…}")
	case start[0] != '{':
		return invalidBody("the body is no object", "send an object of JSON: {…}")
	case !utf8.Valid(body):
		return invalidBody("the body is not UTF-8", "encode it so; what is none at all may be escaped as in URLs")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return worded(err, body, reflect.TypeOf(into).Elem())
	}
	if rest := bytes.TrimLeft(body[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return invalidBody(fmt.Sprintf("something follows the object, from %s on", place(body, len(body)-len(rest))), "send one object alone")
	}
	n := names{json.NewDecoder(bytes.NewReader(body))}
	return n.value(reflect.TypeOf(into).Elem(), "")
}

// worded says what encoding/json found.
func worded(err error, body []byte, t reflect.Type) *Problem {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return invalidBody("this is no JSON: "+syntax.Error()+", at "+place(body, int(syntax.Offset)-1), "")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return invalidBody("the body ends in the middle of the object", "send all of it")
	case errors.As(err, &kind):
		return at(strings.TrimPrefix(kind.Field, "Request."), fmt.Sprintf("is %s, at %s", withArticle(kind.Value), place(body, int(kind.Offset)-1)),
			"give "+wanted(kind.Type))
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name := strings.Trim(quoted, `"`)
		return at(name, "is not known, at "+place(body, bytes.Index(body, []byte(quoted))), "the fields are "+strings.Join(namesOf(t), ", "))
	}
	return invalidBody("the body cannot be read: "+err.Error(), "GET /v1/openapi.json says what it has to be")
}

func withArticle(value string) string {
	switch {
	case strings.HasPrefix(value, "number "): // with its text
		return "the " + value
	case value == "array", value == "object":
		return "an " + value
	case value == "bool":
		return "true or false"
	}
	return "a " + value
}

// wanted says in the words of JSON what a Go type is.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text in quotes"
	case reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// place returns line and column of an offset, both from 1, the column in bytes.
func place(body []byte, offset int) string {
	before := body[:max(0, min(offset, len(body)))]
	return fmt.Sprintf("line %d column %d", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'))
}

// namesOf lists the fields of a struct as JSON has them.
func namesOf(t reflect.Type) []string {
	var all []string
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all = append(all, name)
		}
	}
	return all
}

// names walks through a body that is known to be right otherwise, and looks at the
// names in it.
type names struct{ *json.Decoder }

func (n names) value(t reflect.Type, path string) *Problem {
	token, err := n.Token()
	if err != nil {
		return invalidBody("the body cannot be read: "+err.Error(), "")
	}
	switch token {
	case json.Delim('{'):
		return n.object(t, path)
	case json.Delim('['):
		for i := 0; n.More(); i++ {
			if p := n.value(t.Elem(), fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); p != nil {
				return p
			}
		}
		_, _ = n.Token() // the bracket
	}
	return nil
}

func (n names) object(t reflect.Type, path string) *Problem {
	seen := map[string]bool{}
	for n.More() {
		token, _ := n.Token()
		name, _ := token.(string)
		if seen[name] {
			return at(path+name, "stands there twice", "give it once")
		}
		seen[name] = true
		member, ok := memberOf(t, name)
		if !ok {
			return at(path+name, "is not known", "names are written in lower case")
		}
		if p := n.value(member, path+name+"."); p != nil {
			return p
		}
	}
	_, _ = n.Token() // the brace
	return nil
}

// memberOf returns the type of a member of an object.
func memberOf(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && !f.Anonymous {
			return f.Type, true
		}
	}
	return nil, false
}
