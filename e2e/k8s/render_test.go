package k8s

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Where things are, as seen from here.
const (
	root      = "../.."
	manifests = "deploy/k8s"
)

// keda is full with the other autoscaler.
const keda = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
resources: [../base]
components: [../components/redis, ../components/keda]
`

// variants are all that somebody can apply.
var variants = []string{"base", "full", "keda"}

// folder returns a copy of the manifests, with the third variant beside the others.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "k8s")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, manifests))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "keda"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "keda", "kustomization.yaml"), []byte(keda), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// render returns what `kubectl kustomize` prints for a folder.
func render(dir string) ([]byte, error) {
	out, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	return out.AsYaml()
}

// each renders every variant, reads it strictly, and calls f with what it is made of.
func each(t *testing.T, f func(t *testing.T, o *objects)) {
	t.Helper()
	dir := folder(t)
	for _, variant := range variants {
		t.Run(variant, func(t *testing.T) {
			text, err := render(filepath.Join(dir, variant))
			if err != nil {
				t.Fatal(err)
			}
			o, problems := parse(bytes.Split(text, []byte("\n---\n")))
			for _, p := range problems {
				t.Error(p)
			}
			if len(o.deployments) < 2 {
				t.Fatalf("only %d Deployments", len(o.deployments))
			}
			f(t, o)
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
