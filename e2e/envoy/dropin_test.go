package envoy

import (
	"os"
	"path/filepath"
	"testing"
)

const example = "../../examples/envoy/ratelimit"

// day is a limit that no test outlives.
const day = "domain: shop\ndescriptors:\n  - {key: user, rate_limit: {unit: year, requests_per_unit: 20}}\n  - {key: all, rate_limit: {unit: year, requests_per_unit: 1000}}\n"

func folder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestExampleOfTheDocumentation(t *testing.T) {
	i := start(t, example)
	passed := 0
	for range 20 { // in one minute, or in two of them
		if i.request("192.0.2.1", "/login", "") {
			passed++
		}
	}
	if passed != 5 && passed != 10 {
		t.Errorf("%d of 20 logins passed a limit of 5 a minute", passed)
	}
	if !i.request("192.0.2.1", "/home", "") || !i.request("192.0.2.2", "/login", "") {
		t.Error("others are refused too")
	}
	passed = 0
	for range 250 { // a customer is not held to the limit of addresses
		if i.request("192.0.2.3", "/search/x", "a-key") {
			passed++
		}
	}
	if passed != 250 {
		t.Errorf("%d of 250 requests of a customer passed", passed)
	}
}

func TestInstancesShareBudgets(t *testing.T) {
	redis, dir := startRedis(t), folder(t, day)
	instances := []*instance{start(t, dir, "--redis", redis, "--deadline", "5s"), start(t, dir, "--redis", redis, "--deadline", "5s")}
	passed := 0
	for n := range 60 {
		if instances[n%2].ask("user=ann", "all=1") {
			passed++
		}
	}
	if passed != 20 {
		t.Errorf("%d of 60 passed a limit of 20 over two instances", passed)
	}
	if !instances[0].ask("user=bob", "all=1") {
		t.Error("another user is refused")
	}
}

// TestConfigMap changes the descriptors as Kubernetes does: a link is replaced.
func TestConfigMap(t *testing.T) {
	root := t.TempDir()
	version := func(name, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "shop.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		next := filepath.Join(root, "..next")
		if err := os.Symlink(name, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(root, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..1", "domain: shop\ndescriptors:\n  - {key: user, rate_limit: {unit: year, requests_per_unit: 0}}\n")
	if err := os.Symlink(filepath.Join("..data", "shop.yaml"), filepath.Join(root, "shop.yaml")); err != nil {
		t.Fatal(err)
	}
	i := start(t, root)
	if i.ask("user=ann") {
		t.Error("a limit of 0 lets a request pass")
	}
	version("..2", day)
	eventually(t, "the new limit holds", func() bool { return i.ask("user=ann") })
}
