package rulefile

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// document is what a file holds, for the schema.
type document struct {
	Default rule.Default   `json:"default,omitempty"` // what happens to a request that no rule matches
	Paths   rule.Paths     `json:"paths,omitzero"`    // how paths are read
	Rules   []rule.Rule    `json:"rules"`             // a request has to pass every rule that it matches
	Tests   []Test         `json:"tests,omitempty"`   // requests at times, and what is expected
	Server  map[string]any `json:"server,omitempty"`  // settings of the server
	Gateway map[string]any `json:"gateway,omitempty"` // settings of the gateway
}

// generator makes the schema of types, with their comments as descriptions.
type generator struct {
	t        *testing.T
	comments map[string]map[string]string // by type and field
	defs     map[string]*jsonschema.Schema
}

// patterns of what is text.
const (
	durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	limitPattern    = `^(unlimited$|concurrency [0-9]+$|((token_bucket|gcra|leaky_bucket|warm_up|fixed_window|sliding_window|sliding_log) )?[0-9.e+]+r?/)`
)

// overrides are types that are written in another way than their fields tell.
func (g *generator) overrides() map[reflect.Type]*jsonschema.Schema {
	duration := &jsonschema.Schema{Type: "string", Pattern: durationPattern, Examples: []any{"500ms", "2s", "1m30s"}}
	limit := &jsonschema.Schema{Type: "string", Pattern: limitPattern, Examples: []any{"100/s", "100/s burst=200", "sliding_window 100/m", "concurrency 4"}}
	text := &jsonschema.Schema{Type: "string"}
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[rule.Duration](): duration,
		reflect.TypeFor[sluice.Limit]():  limit,
		reflect.TypeFor[netip.Addr]():    {Type: "string", Examples: []any{"192.0.2.1", "2001:db8::1"}},
		reflect.TypeFor[rule.KeyValues](): {AnyOf: []*jsonschema.Schema{
			text, {Type: "array", Items: text},
		}},
	}
	for t, names := range enums {
		values := make([]any, len(names))
		for i, name := range names {
			values[i] = name
		}
		types[t] = &jsonschema.Schema{Type: "string", Enum: values}
	}
	return types
}

// schemaOf returns the schema of a type; structs become definitions.
func (g *generator) schemaOf(t reflect.Type) *jsonschema.Schema {
	if s, ok := g.overrides()[t]; ok {
		return s
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return g.schemaOf(t.Elem())
	case t.Kind() == reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: g.schemaOf(t.Elem())}
	case t.Kind() == reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: g.schemaOf(t.Elem())}
	case t.Kind() == reflect.Interface:
		return &jsonschema.Schema{}
	case t.Kind() == reflect.Struct && strings.Contains(t.PkgPath(), "sluice"):
		name := filepath.Base(t.PkgPath()) + "." + t.Name()
		if g.defs[name] == nil {
			g.defs[name] = &jsonschema.Schema{} // it may contain itself
			*g.defs[name] = *g.structure(t)
		}
		return g.alternatives(t, &jsonschema.Schema{Ref: "#/$defs/" + name})
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		g.t.Fatal(t, err)
	}
	return s
}

// alternatives adds the short forms.
func (g *generator) alternatives(t reflect.Type, full *jsonschema.Schema) *jsonschema.Schema {
	one := 1.0
	switch t {
	case reflect.TypeFor[rule.Limit]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{g.schemaOf(reflect.TypeFor[sluice.Limit]()), full}}
	case reflect.TypeFor[rule.Cost]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer", Minimum: &one}, full}}
	case reflect.TypeFor[TestRequest]():
		text := &jsonschema.Schema{Type: "string", Examples: []any{"POST /login ip=192.0.2.1 user=ann header:X-Api-Key=abc"}}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, full}}
	}
	return full
}

func (g *generator) structure(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range reflect.VisibleFields(t) {
		name := jsonName(f)
		if name == "" {
			continue
		}
		field := *g.schemaOf(f.Type)
		field.Description = g.comments[t.Name()][f.Name]
		s.Properties[name] = &field
		s.PropertyOrder = append(s.PropertyOrder, name)
		if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(options, "omit") {
			s.Required = append(s.Required, name)
		}
		switch t.Name() + "." + f.Name {
		case "Rule.Rollout":
			field.Pattern = `^[0-9]+(\.[0-9]+)?%$`
		case "Paths.Ambiguous":
			field.Enum = []any{"reject", "decode"}
		case "document.Rules": // another file of the directory may have them
			s.Required = nil
		}
	}
	return s
}

// read collects the comments of struct fields.
func (g *generator) read(pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || paths == nil {
		g.t.Fatal(pattern, err)
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			g.t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && g.comments[spec.Name.Name] == nil {
				g.comments[spec.Name.Name] = fieldComments(s)
			}
			return false
		})
	}
}

func fieldComments(s *ast.StructType) map[string]string {
	comments := map[string]string{}
	for _, f := range s.Fields.List {
		text := f.Doc.Text() + f.Comment.Text()
		for _, name := range f.Names {
			comments[name.Name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return comments
}

func generateSchema(t *testing.T) string {
	g := &generator{t: t, comments: map[string]map[string]string{}, defs: map[string]*jsonschema.Schema{}}
	for _, pattern := range []string{"../../rule/rule.go", "tests.go", "testrequest.go", "schema_test.go"} {
		g.read(pattern)
	}
	root := g.structure(reflect.TypeFor[document]())
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "sluice rules"
	root.Defs = g.defs
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func TestSchemaIsFresh(t *testing.T) {
	compareGolden(t, "rules.schema.json", generateSchema(t))
}

// validate checks a file against the schema, as an editor would.
func validate(t *testing.T, data []byte) error {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	root, problems := newSource("x.yaml", data).read()
	if root == nil || problems != nil {
		return problems // what is no YAML fits no schema
	}
	return resolved.Validate(root.plain())
}

func TestSchemaAcceptsGoodFiles(t *testing.T) {
	paths, _ := filepath.Glob("testdata/good/*.yaml")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, data); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSchemaRefusesBadFiles(t *testing.T) {
	names := []string{
		"rules-not-a-list", "rule-is-text", "unknown-section", "unknown-field", "unknown-nested-field", "burst-as-field",
		"name-missing", "name-is-number", "limits-missing", "limits-not-a-list", "limit-without-unit", "limit-map-without-limit",
		"scope-unknown", "limit-scope-unknown", "mode-unknown", "default-unknown", "missing-unknown", "store-error-unknown",
		"headers-unknown", "ambiguous-unknown", "wait-without-unit", "wait-not-a-duration", "rollout-is-number", "cost-is-text",
		"cost-negative", "cost-method-is-text", "key-not-a-list", "hash-is-text", "override-key-is-number",
		"test-without-steps", "test-without-name", "test-step-without-expect", "test-expect-unknown",
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/bad/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if validate(t, data) == nil {
				t.Error("the schema takes it for good")
			}
		})
	}
}
