package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

// kubernetesSchemas holds a schema for every kind of the manifests. A test in e2e/k8s makes it
// of Kubernetes' own types. Of KEDA's ScaledObject, which is not among them, it knows the
// fields that we use.
const kubernetesSchemas = "testdata/kubernetes.schema.json"

// checker finds mistakes in manifests.
type checker struct {
	whole, parts map[string]*jsonschema.Resolved // by version and kind; parts are patches
	seen         map[string]bool                 // kinds that were asked for
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	text, err := os.ReadFile(kubernetesSchemas)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	if err := json.Unmarshal(text, &schemas); err != nil {
		t.Fatal(err)
	}
	c := &checker{map[string]*jsonschema.Resolved{}, map[string]*jsonschema.Resolved{}, map[string]bool{}}
	for name, s := range schemas {
		part := s.CloneSchemas()
		optional(part)
		// The name says what the patch is for.
		part.Required, part.Properties["metadata"].Required = []string{"metadata"}, []string{"name"}
		var wrong [2]error
		c.whole[name], wrong[0] = s.Resolve(nil)
		c.parts[name], wrong[1] = part.Resolve(nil)
		if err := errors.Join(wrong[:]...); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return c
}

// optional lets all be left out below a schema.
func optional(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	for _, property := range s.Properties {
		optional(property)
	}
	optional(s.Items)
	optional(s.AdditionalProperties)
}

// check returns what is wrong in the documents of a file.
func (c *checker) check(text string, patch bool) error {
	documents, err := documentsOf(text)
	if err != nil {
		return err
	}
	if len(documents) == 0 {
		return errors.New("it is empty")
	}
	for _, document := range documents {
		name := fmt.Sprint(document["apiVersion"], " ", document["kind"])
		c.seen[name] = true
		schema := c.whole[name]
		if patch {
			schema = c.parts[name]
			delete(document, "$patch") // a word of kustomize
		}
		if schema == nil {
			return fmt.Errorf("%s has no schema: add the kind to e2e/k8s/fresh_test.go", name)
		}
		if err := schema.Validate(document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// documentsOf reads YAML into the types of JSON.
func documentsOf(text string) (documents []map[string]any, err error) {
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var read, document map[string]any
		if err := decoder.Decode(&read); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		data, err := json.Marshal(read)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &document); err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// TestManifestsFitTheirSchemas: every object and patch is one that Kubernetes could read.
func TestManifestsFitTheirSchemas(t *testing.T) {
	c := newChecker(t)
	for folder, k := range kustomizations(t) {
		for _, name := range k.Resources {
			if path := filepath.Join(folder, name); strings.HasSuffix(name, ".yaml") {
				if err := c.check(read(t, path), false); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		for _, p := range k.Patches {
			text := p.Patch
			if p.Path != "" {
				text = read(t, filepath.Join(folder, p.Path))
			}
			if err := c.check(text, true); err != nil {
				t.Errorf("%s: the patch %s: %v", folder, p.Path, err)
			}
		}
	}
	for name := range c.whole {
		if !c.seen[name] {
			t.Errorf("no manifest is a %s: remove the kind from e2e/k8s/fresh_test.go", name)
		}
	}
}

// TestWrongManifestsAreFound shows that the test above can fail.
func TestWrongManifestsAreFound(t *testing.T) {
	c, gateway := newChecker(t), read(t, manifests+"/base/gateway.yaml")
	for _, row := range []struct{ old, mistake, want string }{
		{"", "", ""},
		{"readinessProbe:", "readynessProbe:", "readynessProbe"},
		{"containerPort: 8080", "containerPort: http", "type"},
		{"containerPort: 8080", "hostPort: 8080", "containerPort"},
		{"memory: 256Mi", "memory: 256MB", "pattern"},
		{"kind: Service", "kind: Servise", "has no schema"},
		{"apiVersion: apps/v1", "apiVersion: apps/v2", "has no schema"},
		{"metadata:", "metadata: {}\nmetadata:", "already defined"},
		{"spec:\n", "spec:\n  paused:\n", "null"},
	} {
		text := strings.Replace(gateway, row.old, row.mistake, 1)
		if row.old != "" && text == gateway {
			t.Errorf("the manifest has no %q", row.old)
		}
		err := c.check(text, false)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q instead of %q: error %v, want %q", row.mistake, row.old, err, row.want)
		}
	}
	const patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n"
	if err := c.check(patch+"spec: {replicas: 2}\n", true); err != nil {
		t.Errorf("a patch has to be whole: %v", err)
	}
	for _, text := range []string{patch + "spec: {replica: 2}\n", strings.Replace(patch, "name: shop", "", 1)} {
		if c.check(text, true) == nil {
			t.Errorf("this is taken for a good patch:\n%s", text)
		}
	}
}
