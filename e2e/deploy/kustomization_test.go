package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/sluice-limiter/sluice/e2e/program"
)

const (
	manifests     = "deploy/k8s"
	kustomization = "kustomization.yaml"
)

// notApplied are the files of deploy/k8s that are no part of what kubectl applies.
var notApplied = map[string]string{
	"shop.Dockerfile":                                 "the image of the shop",
	"components/redis/users.acl":                      "what a secret is made of",
	"components/offered-load/prometheus-adapter.yaml": "settings of another program",
}

// kustomize is what is used of a kustomization. It is read strictly.
type kustomize struct {
	APIVersion string                         `yaml:"apiVersion"`
	Kind       string                         `yaml:"kind"`
	Namespace  string                         `yaml:"namespace"`
	Resources  []string                       `yaml:"resources"`
	Components []string                       `yaml:"components"`
	Patches    []struct{ Path, Patch string } `yaml:"patches"`
	ConfigMaps []struct {
		Name    string
		Files   []string
		Options struct {
			Keep bool `yaml:"disableNameSuffixHash"`
		}
	} `yaml:"configMapGenerator"`
	Images []struct {
		Name    string
		NewName string `yaml:"newName"`
		NewTag  string `yaml:"newTag"`
	} `yaml:"images"`
}

// files are the files and folders that it names.
func (k *kustomize) files() (names []string) {
	names = append(append(names, k.Resources...), k.Components...)
	for _, p := range k.Patches {
		if p.Path != "" {
			names = append(names, p.Path)
		}
	}
	for _, c := range k.ConfigMaps {
		names = append(names, c.Files...)
	}
	return names
}

// allFiles returns the paths of deploy/k8s, as seen from the root of the repository.
func allFiles(t *testing.T) (paths []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(program.Root), manifests, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// kustomizations returns those of deploy/k8s by folder.
func kustomizations(t *testing.T) map[string]*kustomize {
	t.Helper()
	all := map[string]*kustomize{}
	for _, path := range allFiles(t) {
		if filepath.Base(path) != kustomization {
			continue
		}
		k := new(kustomize)
		if err := yaml.UnmarshalWithOptions([]byte(read(t, path)), k, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Dir(path)] = k
	}
	if len(all) == 0 {
		t.Fatalf("%s has no %s", manifests, kustomization)
	}
	return all
}

// TestKustomizationsNameAllFiles: no file is forgotten, and what is named is there.
func TestKustomizationsNameAllFiles(t *testing.T) {
	named := map[string]bool{}
	for folder, k := range kustomizations(t) {
		for _, name := range k.files() {
			path := filepath.Join(folder, name)
			named[path] = true
			if _, err := os.Stat(filepath.Join(program.Root, path)); err != nil {
				t.Errorf("%s/%s names %s: %v", folder, kustomization, name, err)
			}
		}
	}
	for name := range notApplied {
		named[filepath.Join(manifests, name)] = true
		read(t, filepath.Join(manifests, name))
	}
	for _, path := range allFiles(t) {
		if filepath.Base(path) != kustomization && !named[path] {
			t.Errorf("no %s names %s", kustomization, path)
		}
	}
}
