package k8s

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// objects are what a variant consists of, by kind and name.
type objects struct {
	deployments map[string]*apps.Deployment
	services    map[string]*core.Service
	configs     map[string]*core.ConfigMap
	policies    map[string]*networking.NetworkPolicy
	budgets     map[string]*policy.PodDisruptionBudget
	autoscalers map[string]*autoscaling.HorizontalPodAutoscaler
	scaled      map[string]*scaledObject
}

// scaledObject is what is used of KEDA's type, whose module is too large to be worth it. It
// is read as strictly as the others.
type scaledObject struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		PollingInterval int32 `json:"pollingInterval"`
		Triggers        []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// parse reads documents as an API server would that refuses every doubt: unknown and
// repeated fields, wrong types, and fields that are missing though they have to be there.
func parse(documents [][]byte) (o *objects, problems []string) {
	o = &objects{
		map[string]*apps.Deployment{},
		map[string]*core.Service{},
		map[string]*core.ConfigMap{},
		map[string]*networking.NetworkPolicy{},
		map[string]*policy.PodDisruptionBudget{},
		map[string]*autoscaling.HorizontalPodAutoscaler{},
		map[string]*scaledObject{},
	}
	for _, text := range documents {
		var kind meta.TypeMeta
		if err := yaml.Unmarshal(text, &kind); err != nil {
			return o, []string{err.Error()}
		}
		name := kind.APIVersion + " " + kind.Kind
		var found []string
		switch name {
		case "v1 Namespace":
			found = into(map[string]*core.Namespace{}, text)
		case "apps/v1 Deployment":
			found = into(o.deployments, text)
		case "v1 Service":
			found = into(o.services, text)
		case "v1 ConfigMap":
			found = into(o.configs, text)
		case "networking.k8s.io/v1 NetworkPolicy":
			found = into(o.policies, text)
		case "policy/v1 PodDisruptionBudget":
			found = into(o.budgets, text)
		case "autoscaling/v2 HorizontalPodAutoscaler":
			found = into(o.autoscalers, text)
		case "keda.sh/v1alpha1 ScaledObject":
			found = into(o.scaled, text)
		default:
			found = []string{"nobody knows this kind"}
		}
		for _, p := range found {
			problems = append(problems, name+": "+p)
		}
	}
	return o, problems
}

// into reads one object strictly and puts it where it belongs.
func into[T any](kinds map[string]*T, text []byte) (problems []string) {
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		return []string{err.Error()}
	}
	var plain map[string]any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		return []string{err.Error()}
	}
	name := any(object).(meta.Object).GetName()
	if name == "" || kinds[name] != nil {
		problems = append(problems, fmt.Sprintf("the name %q is empty, or there twice", name))
	}
	kinds[name] = object
	return append(problems, missing(reflect.TypeFor[T](), plain, name)...)
}

// missing returns the fields that are not there, of those that Kubernetes' types always
// write: what may be left out is marked by omitempty or omitzero.
func missing(t reflect.Type, value any, where string) (problems []string) {
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			problems = append(problems, missing(element(t), item, fmt.Sprintf("%s[%d]", where, i))...)
		}
	case map[string]any:
		if t = pointed(t); t.Kind() != reflect.Struct {
			for key, item := range v {
				problems = append(problems, missing(element(t), item, where+"."+key)...)
			}
			return problems
		}
		for i := range t.NumField() {
			field := t.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			item, there := v[name]
			switch {
			case field.Anonymous || name == "" || name == "-":
			case there:
				problems = append(problems, missing(field.Type, item, where+"."+name)...)
			case !strings.Contains(options, "omit") && name != "resources" && name != "strategy":
				problems = append(problems, fmt.Sprintf("%s.%s is missing", where, name))
			}
		}
	}
	return problems
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// element is the type of what a list or map holds; of anything else, itself.
func element(t reflect.Type) reflect.Type {
	if t = pointed(t); t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		return t.Elem()
	}
	return t
}

// TestManifests: all of it is as Kubernetes wants it.
func TestManifests(t *testing.T) {
	each(t, func(*testing.T, *objects) {})
}

// TestBrokenManifests shows that the test above can fail.
func TestBrokenManifests(t *testing.T) {
	const head = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	for text, want := range map[string]string{
		head + "spec: {ports: [{port: 1}]}\n":                                          "",
		head + "spec: {port: 1}\n":                                                     "unknown field",
		head + "spec: {ports: [{port: one}]}\n":                                        "cannot unmarshal",
		head + "spec: {ports: [{name: a}]}\n":                                          "a.spec.ports[0].port is missing",
		head + "spec: {type: A, type: B}\n":                                            "already set",
		"apiVersion: v1\nkind: Service\nspec: {}\n":                                    "the name",
		"apiVersion: apps/v1\nkind: Service\nmetadata: {name: a}\n":                    "nobody knows",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {}\n":       "a.spec.selector is missing",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {maxAvailable: 1}\n":  "unknown field",
		"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec: {triggers: [{x: 1}]}": "unknown field",
	} {
		_, problems := parse([][]byte{[]byte(text)})
		if all := strings.Join(problems, "\n"); (all == "") != (want == "") || !strings.Contains(all, want) {
			t.Errorf("%s\nproblems %q, want %q", text, all, want)
		}
	}
}
