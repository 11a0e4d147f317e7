package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportEnvoy(t *testing.T) {
	name := filepath.Join(t.TempDir(), "shop.yaml")
	run := func(text string, args ...string) (string, error) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := newImport()
		c.SilenceUsage, c.SilenceErrors = true, true
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(append([]string{"envoy"}, args...))
		err := c.Execute()
		return out.String(), err
	}
	const good = "domain: shop\ndescriptors:\n  - {key: user, rate_limit: {unit: day, requests_per_unit: 5}}\n"
	if out, err := run(good, name, "--zone", "Europe/Berlin"); err != nil || !strings.Contains(out, `limits: ["5/d zone=Europe/Berlin"]`) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run(good, name, name); err == nil {
		t.Error("the same domain twice")
	}
	if _, err := run("domain: shop\ndescriptors: [{key: a, rate_limit: {unit: x}}]\n", name); err == nil || !strings.Contains(err.Error(), "shop.yaml:2:") {
		t.Errorf("a mistake: %v", err)
	}
	twice := "domain: shop\ndescriptors:\n  - key: a\n    descriptors:\n      - {key: a, rate_limit: {unit: day, requests_per_unit: 5}}\n"
	if out, err := run(twice, name); err == nil || !strings.Contains(out, "NOT CONVERTED") {
		t.Errorf("a key twice: %v\n%s", err, out)
	}
	if _, err := run(good, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no such file")
	}
}
