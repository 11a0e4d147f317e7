package k8s

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
)

// token is what the secret holds.
const token = "a-token-for-the-tests-alone"

// mount writes files as the kubelet does: behind links, of which one is swapped.
func mount(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	swap(t, dir, "..first", files)
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// swap puts other files in force, all at once.
func swap(t *testing.T, dir, version string, files map[string]string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, version), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, version, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := filepath.Join(dir, "..data_tmp")
	if err := os.Symlink(version, next); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

// pod is a gateway that runs as its container would.
type pod struct {
	dir       string // where the rules are
	files     map[string]string
	http, api string // URLs
	cmd       *exec.Cmd
	client    *http.Client
}

// said keeps what a program prints, to be read while it runs.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// startPod runs the container's command on free ports, in front of an application.
func startPod(t *testing.T, o *objects, application string) *pod {
	t.Helper()
	c := &o.deployments["gateway"].Spec.Template.Spec.Containers[0]
	p := &pod{files: map[string]string{}, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}}
	for name, text := range o.configs["sluice-rules"].Data {
		p.files[name] = strings.ReplaceAll(text, "http://shop:8080", application)
	}
	p.dir = mount(t, p.files)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, arg := range c.Args {
		args = append(args, strings.ReplaceAll(arg, c.VolumeMounts[0].MountPath, p.dir))
	}
	p.cmd = exec.Command(program(t, "sluice"), append(args, "--listen", "127.0.0.1:0", "--api", "127.0.0.1:0")...)
	p.cmd.Env = []string{"SLUICE_TOKENS_FILE=" + tokens, "GOMEMLIMIT=" + variable(c, "GOMEMLIMIT")}
	out := &said{}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Logf("the gateway said:\n%s", out)
		}
	})
	where := regexp.MustCompile(`the gateway listens on (http://\S+) with [\s\S]*API: (http://[0-9.:]+)`)
	await(t, "to say where it listens", func() bool {
		match := where.FindStringSubmatch(out.String())
		if match != nil {
			p.http, p.api = match[1], match[2]
		}
		return match != nil
	})
	if strings.Contains(out.String(), "lower server.memory") {
		t.Errorf("keys may take too much of its memory:\n%s", out)
	}
	return p
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("a minute was not enough %s", what)
		}
	}
}

// get asks with the token and returns status and body.
func (p *pod) get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := p.client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(text)
}

// TestGateway lives the life of a pod: probes, requests, metrics, new rules, the end.
func TestGateway(t *testing.T) {
	application := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") }))
	defer application.Close()
	each(t, func(t *testing.T, o *objects) {
		c := &o.deployments["gateway"].Spec.Template.Spec.Containers[0]
		p := startPod(t, o, application.URL)
		p.probes(t, c)
		if status, body := p.get(t, p.http+"/orders"); status != http.StatusOK || body != "served" {
			t.Errorf("a request got %d %q", status, body)
		}
		p.metrics(t, o)
		p.reload(t)
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

// probes asks as the kubelet does, without a token.
func (p *pod) probes(t *testing.T, c *core.Container) {
	t.Helper()
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe.HTTPGet.Port.StrVal != "api" {
			t.Errorf("a probe asks %s, health is told at the port api", &probe.HTTPGet.Port)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.api+probe.HTTPGet.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := p.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", probe.HTTPGet.Path, response.Status)
		}
	}
}

// metrics looks for all that the autoscalers ask for.
func (p *pod) metrics(t *testing.T, o *objects) {
	t.Helper()
	queries := []string{read(t, manifests+"/components/offered-load/prometheus-adapter.yaml"), read(t, "docs/KUBERNETES.md")}
	for _, s := range o.scaled {
		queries = append(queries, s.Spec.Triggers[1].Metadata["query"])
	}
	series := regexp.MustCompile(`\bsluice_\w+(?:\{rule="[a-z-]+"\})?`).FindAllString(strings.Join(queries, "\n"), -1)
	if len(series) < 3 {
		t.Errorf("only %q are asked for", series)
	}
	var text string
	await(t, "for the gauges of load, which need two samples", func() bool {
		_, text = p.get(t, p.api+"/metrics")
		return strings.Contains(text, `sluice_rule_admitted_per_second{`)
	})
	for _, s := range series {
		if s != `sluice_cost_offered_total{rule="instance"}` && !strings.Contains(text, "\n"+s) { // that one is the shop's
			t.Errorf("the gateway does not tell %s", s)
		}
	}
}

// reload swaps the ConfigMap, and sees the new rules in force without a restart.
func (p *pod) reload(t *testing.T) {
	t.Helper()
	text := p.files["rules.yaml"]
	p.files["rules.yaml"] = "rules: [{name: few, limits: [1/h]}]\n"
	swap(t, p.dir, "..second", p.files)
	await(t, "for the new rules", func() bool { status, _ := p.get(t, p.http+"/orders"); return status == http.StatusTooManyRequests })
	p.files["rules.yaml"] = "rules: [{name: }]\n"
	swap(t, p.dir, "..third", p.files)
	await(t, "to say that rules are wrong", func() bool {
		_, told := p.get(t, p.api+"/metrics")
		return strings.Contains(told, "sluice_reload_last_success 0\n")
	})
	p.files["rules.yaml"] = text
	swap(t, p.dir, "..fourth", p.files)
	await(t, "for the old rules", func() bool { status, _ := p.get(t, p.http+"/orders"); return status == http.StatusOK })
}
