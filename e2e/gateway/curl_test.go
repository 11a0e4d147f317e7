package gateway

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

func curl(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("curl", append([]string{"-s", "-m", "20", "-w", " %{http_code} %{http_version}"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("curl %q: %v: %s", args, err, out)
	}
	return string(out)
}

// TestCurl asks in all ways that curl knows.
func TestCurl(t *testing.T) {
	up := upstream(t, proxytest.FreeAddr(t))
	g := start(t, section("http://"+up.Addr)+"\nrules: [{name: no, match: {paths: [/no]}, key: [ip], limits: [0/s]}]\n")
	url := "http://" + g.gateway
	for _, c := range []struct {
		want, input string
		args        []string
	}{
		{"GET HTTP/1.1 0 200 1.1", "", []string{url}},
		{"GET HTTP/1.1 0 200 1", "", []string{"--http1.0", url}},
		{"GET HTTP/1.1 0 200 2", "", []string{"--http2-prior-knowledge", url}},
		{"GET HTTP/1.1 0 200 1.1", "", []string{"--http2", url}}, // it offers to change to h2c, and nobody takes it up
		{"POST HTTP/1.1 5 200 1.1", "", []string{"-d", "hello", url}},
		{"POST HTTP/1.1 5 200 2", "", []string{"--http2-prior-knowledge", "-d", "hello", url}},
		{"PUT HTTP/1.1 100000 200 1.1", strings.Repeat("x", 100_000), []string{"-T", "-", url}},
		{"PUT HTTP/1.1 100000 200 2", strings.Repeat("x", 100_000), []string{"--http2-prior-knowledge", "-T", "-", url}},
		{"DELETE HTTP/1.1 0 200 1.1", "", []string{"-X", "DELETE", url}},
		{" 200 1.1", "", []string{"-o", os.DevNull, "-I", url}},
		{" 429 1.1", "", []string{"-o", os.DevNull, url + "/no"}},
		{" 429 2", "", []string{"--http2-prior-knowledge", "-o", os.DevNull, url + "/no"}},
	} {
		if got := curl(t, c.input, c.args...); got != c.want {
			t.Errorf("curl %q: %q, want %q", c.args, got, c.want)
		}
	}
}

// TestCurlTLS: HTTP/2 is offered with TLS, and a new certificate is taken up by a reload.
func TestCurlTLS(t *testing.T) {
	up := upstream(t, proxytest.FreeAddr(t))
	dir := t.TempDir()
	certify(t, dir)
	text := "gateway: {listen: LISTEN, tls: {cert: " + filepath.Join(dir, "cert.pem") + ", key: " + filepath.Join(dir, "key.pem") + "}, upstreams: [{name: app, servers: ['http://" + up.Addr + "']}]}"
	g := start(t, text)
	ask := func() string {
		return curl(t, "", "--cacert", filepath.Join(dir, "cert.pem"), "https://"+g.gateway)
	}
	if got := ask(); got != "GET HTTP/1.1 0 200 2" {
		t.Error(got)
	}
	certify(t, dir)
	eventually(t, "the new certificate is in use", func() bool {
		out, err := exec.Command("curl", "-s", "-m", "20", "--cacert", filepath.Join(dir, "cert.pem"), "https://"+g.gateway).CombinedOutput()
		return err == nil && string(out) == "GET HTTP/1.1 0"
	})
}

func certify(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=gateway",
		"-addext", "subjectAltName=IP:127.0.0.1", "-keyout", filepath.Join(dir, "key.pem"), "-out", filepath.Join(dir, "cert.pem")).CombinedOutput()
	if err != nil {
		t.Fatalf("openssl: %v: %s", err, out)
	}
}

// TestExample runs the example, with three servers behind it.
func TestExample(t *testing.T) {
	replace := map[string]string{"127.0.0.1:8000": proxytest.FreeAddr(t)}
	for _, address := range []string{"127.0.0.1:9001", "127.0.0.1:9002", "127.0.0.1:9003"} {
		replace[address] = upstream(t, proxytest.FreeAddr(t)).Addr
	}
	proxytest.Sluice(t, filepath.Join(proxytest.Example(t, "examples/gateway", replace), "rules.yaml"))
	listens(t, replace["127.0.0.1:8000"])
	for _, path := range []string{"/", "/api/orders"} {
		if got := curl(t, "", "http://"+replace["127.0.0.1:8000"]+path); got != "GET HTTP/1.1 0 200 1.1" {
			t.Errorf("%s: %s", path, got)
		}
	}
}
