package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// generator writes schemas of Go types, with the comments of their fields. Those of
// rules are explained elsewhere: in the schema of rule files.
type generator struct {
	schemas  object
	comments map[string]string // by Type.Field
}

func newGenerator(t *testing.T) *generator {
	g := &generator{schemas: object{}, comments: map[string]string{}}
	for _, path := range []string{"../audit/audit.go", "backend.go", "preview.go", "problem.go", "wire.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, g.read)
	}
	return g
}

// read collects the comments of struct fields.
func (g *generator) read(n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	if s, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				g.comments[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
			}
		}
	}
	return false
}

// operation describes one endpoint.
func (g *generator) operation(r route, o operation) object {
	to := object{"operationId": o.id, "summary": o.summary}
	var parameters []object
	if strings.Contains(r.path, "{name}") {
		parameters = append(parameters, object{"name": "name", "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range slices.Sorted(maps.Keys(o.query)) {
		parameters = append(parameters, object{"name": name, "in": "query", "description": o.query[name], "schema": object{"type": "string"}})
	}
	if parameters != nil {
		to["parameters"] = parameters
	}
	if !r.public {
		to["security"] = []object{{"token": []string{}}}
	}
	if o.body != nil {
		to["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": g.schema(reflect.TypeOf(o.body))}}}
	}
	if o.yaml {
		to["requestBody"] = object{"required": true, "content": object{"application/yaml": object{"schema": object{"type": "string"}}}}
	}
	to["responses"] = g.responses(o)
	return to
}

func (g *generator) responses(o operation) object {
	all := object{"default": object{
		"description": "an error",
		"content":     object{"application/problem+json": object{"schema": g.schema(reflect.TypeFor[Problem]())}},
	}}
	var schemas []any
	for _, reply := range o.replies {
		schemas = append(schemas, g.schema(reflect.TypeOf(reply)))
	}
	switch len(schemas) {
	case 0:
		if o.kind == "" {
			all["204"] = object{"description": "done"}
			break
		}
		all["200"] = object{"description": "the answer", "content": object{o.kind: object{}}}
	case 1:
		all["200"] = jsonAnswer("the answer", schemas[0])
	default:
		all["200"] = jsonAnswer("the answer", object{"oneOf": schemas})
		all["429"] = jsonAnswer("a denial, if asked for by status, with the header field Retry-After and those that the rule asks for", schemas[0])
	}
	return all
}

func jsonAnswer(description string, schema any) object {
	return object{"description": description, "content": object{"application/json": object{"schema": schema}}}
}

func enum[T ~string](values ...T) object { return object{"type": "string", "enum": values} }

// schema returns the schema of a type; structs are put beside.
func (g *generator) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[sluice.Limit]():
		return object{"type": "string", "examples": []string{"100/s", "5/m"}}
	case reflect.TypeFor[rule.Duration]():
		return object{"type": "string", "examples": []string{"500ms"}}
	case reflect.TypeFor[rule.Mode]():
		return enum(rule.Enforce, rule.Shadow, rule.Off)
	case reflect.TypeFor[rule.Scope]():
		return enum(rule.Cluster, rule.Instance, rule.Split)
	case reflect.TypeFor[rule.Default]():
		return enum(rule.Allow, rule.Deny)
	case reflect.TypeFor[rule.Missing]():
		return enum(rule.MissingSkip, rule.MissingShared, rule.MissingDeny)
	case reflect.TypeFor[rule.OnStoreError]():
		return enum(rule.ErrorLocal, rule.ErrorAllow, rule.ErrorDeny)
	case reflect.TypeFor[rule.KeyValues]():
		return object{"anyOf": []object{{"type": "string"}, {"type": "array", "items": object{"type": "string"}}}}
	case reflect.TypeFor[rule.Limit]():
		return object{"anyOf": []object{g.schema(reflect.TypeFor[sluice.Limit]()), g.structure(t)}}
	case reflect.TypeFor[rule.Cost]():
		return object{"anyOf": []object{{"type": "integer"}, g.structure(t)}}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Slice:
		return object{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	}
	return g.structure(t)
}

// structure puts a struct beside and refers to it.
func (g *generator) structure(t reflect.Type) object {
	reference := object{"$ref": "#/components/schemas/" + t.Name()}
	if g.schemas[t.Name()] != nil {
		return reference
	}
	properties, required := object{}, []string{}
	g.schemas[t.Name()] = object{} // it may contain itself
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := g.schema(f.Type)
		if comment := g.comments[ownerOf(t, f)+"."+f.Name]; comment != "" {
			schema["description"] = comment
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	g.schemas[t.Name()] = s
	return reference
}

// ownerOf names the struct that declares a field, which may be embedded in t.
func ownerOf(t reflect.Type, f reflect.StructField) string {
	if len(f.Index) > 1 {
		t = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
	}
	return t.Name()
}
