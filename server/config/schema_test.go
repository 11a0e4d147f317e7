package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/sluice-limiter/sluice/server/config"
)

const schemaFile = "sluice.schema.json"

// The schema that is committed is the one of the code.
func TestSchemaIsFresh(t *testing.T) {
	made, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(schemaFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := os.ReadFile(schemaFile); err != nil || string(file) != string(made) {
		t.Errorf("%s is not what the code makes (%v): go test ./config -rewrite puts it there", schemaFile, err)
	}
}

// schema returns it ready to check files, as an editor would.
func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// value is what a YAML file says, in the types of JSON.
func value(t *testing.T, text []byte) any {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaAcceptsOurFiles(t *testing.T) {
	s := schema(t)
	for _, path := range []string{"sample.yaml", "../../deploy/systemd/sluice.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value(t, text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	page, err := os.ReadFile("../../docs/SERVER.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Fatal("docs/SERVER.md has no example")
	}
	for _, example := range examples {
		if err := s.Validate(value(t, example[1])); err != nil {
			t.Errorf("docs/SERVER.md: %v\n%s", err, example[1])
		}
	}
}

// What the schema refuses the server refuses too, and every setting can be what it is by
// default.
func TestSchemaKnowsSettings(t *testing.T) {
	s := schema(t)
	for _, server := range []string{
		"{listne: ':8080'}", "{listen: 8080}", "{limits: {in_flight: many}}", "{log: {format: xml}}", "{tls: {crt: a}}",
		"{memory: 256}", "{memory: much}", "{deadline: 50}", "{lease: {on: maybe}}", "{tokens: secret}", "{trace: {share: all}}", "[]",
	} {
		text := []byte("server: " + server + "\nrules: [{name: a, limits: [1/s]}]\n")
		if s.Validate(value(t, text)) == nil {
			t.Errorf("the schema takes %s for good", server)
		}
		path := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (config.Sources{Path: path}).Load(); err == nil {
			t.Errorf("the server takes %s for good", server)
		}
	}
	defaults, err := json.Marshal(config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(map[string]any{"server": without(value(t, defaults))}); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

// without leaves out what is empty, which an enum or a pattern may not know.
func without(v any) any {
	fields, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for name, field := range fields {
		if fields[name] = without(field); field == "" {
			delete(fields, name)
		}
	}
	return fields
}
