package k8s

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMain removes the programs.
func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built are the programs, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// program returns the path of a real program: sluice or shop.
func program(t *testing.T, name string) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "sluice-k8s"); built.err != nil {
			return
		}
		for module, target := range map[string]string{"server": "./cmd/sluice", "e2e": "./rehearsal/shop"} {
			cmd := exec.Command("go", "build", "-buildvcs=false", "-o", built.dir+"/", target)
			cmd.Dir = filepath.Join(root, module)
			cmd.Env = append(os.Environ(), "GOWORK=off")
			if out, err := cmd.CombinedOutput(); err != nil {
				built.err = fmt.Errorf("go build %s: %w\n%s", target, err, out)
			}
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, name)
}

// TestRulesAreAccepted: the program accepts the ConfigMap, and its tests pass.
func TestRulesAreAccepted(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		out, err := exec.Command(program(t, "sluice"), "check-config", "--test", mount(t, o.configs["sluice-rules"].Data)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), " 0 warnings") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// TestShopSettings: the program knows every variable of the manifest, and its port is the
// one that it listens on. It ends since there is no database, not because of a setting.
func TestShopSettings(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		c := &o.deployments["shop"].Spec.Template.Spec.Containers[0]
		instead := map[string]string{
			"SHOP_NAME": "shop-1", "SHOP_REDIS": "redis://127.0.0.1:1",
			"SHOP_DATABASE": "postgres://shop:password@127.0.0.1:1/shop?sslmode=disable",
		}
		cmd := exec.Command(program(t, "shop"), c.Args...)
		for _, e := range c.Env {
			value := e.Value
			if e.ValueFrom != nil {
				value = instead[e.Name]
			}
			cmd.Env = append(cmd.Env, e.Name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "create the tables") {
			t.Errorf("%v: want it to miss only the database\n%s", err, out)
		}
		cmd = exec.Command(program(t, "shop"))
		cmd.Env = []string{"SHOP_NOTHING=1"}
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("a variable that it does not know: %v\n%s", err, out)
		}
		if listen := variable(c, "SHOP_LISTEN"); listen != fmt.Sprintf(":%d", c.Ports[0].ContainerPort) {
			t.Errorf("it listens on %s, the port is %d", listen, c.Ports[0].ContainerPort)
		}
		source := read(t, "e2e/rehearsal/shop/shop.go")
		for _, path := range []string{c.StartupProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path} {
			if !strings.Contains(source, `"GET `+path+`"`) {
				t.Errorf("the shop does not answer %s", path)
			}
		}
	})
}

// TestShopImage: the image is built as the tests do it, and runs as the manifest says.
func TestShopImage(t *testing.T) {
	text := read(t, manifests+"/shop.Dockerfile")
	for _, want := range []string{"CGO_ENABLED=0", "GOWORK=off", "WORKDIR /src/e2e", "-o /out/shop ./rehearsal/shop", "\nFROM scratch\n", "\nUSER 65532:65532\n", "\nENTRYPOINT [\"/shop\"]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
