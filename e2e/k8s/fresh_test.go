package k8s

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// schemaFile is what tests in e2e/deploy check the manifests against, without these modules.
const schemaFile = "../deploy/testdata/kubernetes.schema.json"

var rewrite = flag.Bool("rewrite", false, "write the schemas of Kubernetes' types anew")

// kinds are those that the files of deploy/k8s hold, by version and name.
var kinds = map[string]reflect.Type{
	"v1 Namespace":                           reflect.TypeFor[core.Namespace](),
	"v1 Service":                             reflect.TypeFor[core.Service](),
	"apps/v1 Deployment":                     reflect.TypeFor[apps.Deployment](),
	"networking.k8s.io/v1 NetworkPolicy":     reflect.TypeFor[networking.NetworkPolicy](),
	"policy/v1 PodDisruptionBudget":          reflect.TypeFor[policy.PodDisruptionBudget](),
	"autoscaling/v2 HorizontalPodAutoscaler": reflect.TypeFor[autoscaling.HorizontalPodAutoscaler](),
	"keda.sh/v1alpha1 ScaledObject":          reflect.TypeFor[scaledObject](), // our part of KEDA's type
}

// quantityPattern is a number with or without one of Kubernetes' units.
const quantityPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$`

// ownForms are the types that write themselves as JSON in another form than their fields.
func ownForms() (map[reflect.Type]*jsonschema.Schema, error) {
	forms := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[resource.Quantity]():  {Types: []string{"number", "string"}, Pattern: quantityPattern},
		reflect.TypeFor[intstr.IntOrString](): {Types: []string{"integer", "string"}},
		reflect.TypeFor[meta.Time]():          {Type: "string"},
		reflect.TypeFor[meta.FieldsV1]():      {Type: "object"},
	}
	metadata, err := jsonschema.For[meta.ObjectMeta](&jsonschema.ForOptions{TypeSchemas: forms})
	if err != nil {
		return nil, err
	}
	// It is embedded under a name, which the library takes for fields of the outer type.
	forms[reflect.TypeFor[meta.ObjectMeta]()] = &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"metadata": metadata},
	}
	return forms, nil
}

// schemas returns those of all kinds, as the file holds them: one on each line.
func schemas() ([]byte, error) {
	forms, err := ownForms()
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		s, err := jsonschema.ForType(kinds[name], &jsonschema.ForOptions{TypeSchemas: forms})
		if err != nil {
			return nil, err
		}
		delete(s.Properties, "status") // the cluster writes it, no file does
		s.Required = append(s.Required, "apiVersion", "kind", "metadata")
		s.Properties["metadata"].Required = []string{"name"}
		strict(s)
		text, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%q: %s", name, text))
	}
	return []byte("{\n" + strings.Join(lines, ",\n") + "\n}\n"), nil
}

// strict refuses null below a schema: in a manifest it is a value that somebody forgot.
func strict(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 && s.Types[0] == "null" {
		s.Types = s.Types[1:]
	}
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	for _, property := range s.Properties {
		strict(property)
	}
	strict(s.Items)
	strict(s.AdditionalProperties)
}

// TestSchemaIsFresh: the schemas that are committed are those of the types.
func TestSchemaIsFresh(t *testing.T) {
	made, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(schemaFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := os.ReadFile(schemaFile); err != nil || string(file) != string(made) {
		t.Errorf("%s is not what the types make (%v): go test -run Fresh . -rewrite puts it there", schemaFile, err)
	}
}
