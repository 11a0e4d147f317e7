package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// names walks through a body that is known to be JSON, and looks at the names in it
// and at how many there are. Values of the wrong kind are left to encoding/json.
type names struct {
	*json.Decoder
	body []byte
}

func (n names) value(t reflect.Type, path string) *Problem {
	token, err := n.Token()
	if err != nil {
		return invalidBody("the body cannot be read: "+err.Error(), "")
	}
	switch kind := t.Kind(); token {
	case json.Delim('{'):
		if kind == reflect.Struct || kind == reflect.Map {
			return n.object(t, path)
		}
		n.leave()
	case json.Delim('['):
		if kind == reflect.Slice {
			return n.list(t.Elem(), strings.TrimSuffix(path, "."))
		}
		n.leave()
	}
	return nil
}

// leave passes over the rest of an object or a list.
func (n names) leave() {
	for depth := 1; depth > 0; {
		token, err := n.Token()
		if err != nil {
			return
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// list looks at the members of a list. The only one that there is, is a batch.
func (n names) list(member reflect.Type, path string) *Problem {
	for i := 0; n.More(); i++ {
		if i == MaxBatch {
			return at(path, fmt.Sprintf("has more than %d requests", MaxBatch), fmt.Sprintf("send 1 to %d", MaxBatch))
		}
		if p := n.value(member, fmt.Sprintf("%s[%d].", path, i)); p != nil {
			return p
		}
	}
	_, _ = n.Token() // the bracket
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
		if t.Kind() == reflect.Map && len(seen) == most {
			return at(strings.TrimSuffix(path, "."), fmt.Sprintf("has more than %d names", most), "send only those that rules ask for")
		}
		seen[name] = true
		member, p := n.member(t, path, name)
		if p == nil {
			p = n.value(member, path+name+".")
		}
		if p != nil {
			return p
		}
	}
	_, _ = n.Token() // the brace
	return nil
}

// member returns the type of a member of an object, whose name was just read.
func (n names) member(t reflect.Type, path, name string) (reflect.Type, *Problem) {
	if t.Kind() == reflect.Map {
		return t.Elem(), nil
	}
	known := fieldsOf(t)
	if member, ok := known.types[name]; ok {
		return member, nil
	}
	hint := "the fields are " + strings.Join(known.names, ", ")
	if _, ok := known.types[strings.ToLower(name)]; ok {
		hint = "names are written in lower case"
	}
	from := bytes.LastIndexByte(n.body[:n.InputOffset()-1], '"')
	return nil, at(fmt.Sprintf("%s%.100s", path, name), "is not known, at "+place(n.body, from), hint)
}

// known are the fields of a struct as JSON has them.
type known struct {
	names []string // in their order
	types map[string]reflect.Type
}

var allKnown sync.Map // of *known by reflect.Type: looking at a type is slow

func fieldsOf(t reflect.Type) *known {
	if k, ok := allKnown.Load(t); ok {
		return k.(*known)
	}
	k := &known{types: map[string]reflect.Type{}}
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			k.names, k.types[name] = append(k.names, name), f.Type
		}
	}
	allKnown.Store(t, k)
	return k
}
