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
// let pass: names that are not known, in another case or there twice, null for the
// whole, and text that is not UTF-8. What the body says is looked at before memory is
// taken for it, since a list of empty objects needs hundreds of times its text.
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
	var whole json.RawMessage // makes sure that it is JSON
	if err := d.Decode(&whole); err != nil {
		return worded(err, body)
	}
	if rest := bytes.TrimLeft(body[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return invalidBody(fmt.Sprintf("something follows the object, from %s on", place(body, len(body)-len(rest))), "send one object alone")
	}
	n := names{json.NewDecoder(bytes.NewReader(body)), body}
	if p := n.value(reflect.TypeOf(into).Elem(), ""); p != nil {
		return p
	}
	if err := json.Unmarshal(body, into); err != nil {
		return worded(err, body)
	}
	return nil
}

// worded says what encoding/json found.
func worded(err error, body []byte) *Problem {
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
