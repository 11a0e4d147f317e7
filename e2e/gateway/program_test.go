package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/program"
	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

func TestMain(m *testing.M) {
	if serveUpstream() {
		return
	}
	program.Main(m)
}

// running is a gateway that runs.
type running struct {
	*proxytest.Process // its Addr is that of the API
	t                  *testing.T
	file               string
	gateway            string // its address
}

// start runs the gateway with a file, in which LISTEN stands for its address. The API
// asks for no token.
func start(t *testing.T, text string) *running {
	t.Helper()
	p := &running{t: t, file: filepath.Join(t.TempDir(), "rules.yaml"), gateway: proxytest.FreeAddr(t)}
	p.write(text)
	p.Process = proxytest.Sluice(t, p.file, "--log-level", "warn")
	listens(t, p.gateway)
	return p
}

// listens waits for the gateway, whose address is opened after that of the API.
func listens(t *testing.T, address string) {
	t.Helper()
	eventually(t, "the gateway listens", func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	})
}

// write puts the file there at once, as one that is watched has to be.
func (p *running) write(text string) {
	p.t.Helper()
	if !strings.Contains(text, "rules:") {
		text += "\nrules: []\n"
	}
	text = strings.ReplaceAll(text, "LISTEN", p.gateway)
	if err := os.WriteFile(p.file+".new", []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(p.file+".new", p.file); err != nil {
		p.t.Fatal(err)
	}
}

// section is that of a gateway with these servers.
func section(servers ...string) string {
	return fmt.Sprintf(`gateway: {listen: LISTEN, upstreams: [{name: app, servers: ["%s"]}]}`, strings.Join(servers, `", "`))
}

// metric returns the sum of a metric over all labels that contain the texts.
func (p *running) metric(name string, labels ...string) (sum float64) {
	p.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	res, err := client.Get("http://" + p.Addr + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
lines:
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, name+" ") && !strings.HasPrefix(line, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(line, `"`+l+`"`) {
				continue lines
			}
		}
		var value float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value); err != nil {
			p.t.Fatal(err)
		}
		sum += value
	}
	return sum
}

// decisions is how many requests the rules have decided.
func (p *running) decisions() float64 { return p.metric("sluice_gateway_requests_total") }

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}
