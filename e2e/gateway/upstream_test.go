package gateway

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// upstreamVariable makes this program a server that answers at its value.
const upstreamVariable = "SLUICE_E2E_UPSTREAM"

// serveUpstream is that server: it tells how long a body was, or sends as much as it is
// asked for.
func serveUpstream() bool {
	address := os.Getenv(upstreamVariable)
	if address == "" {
		return false
	}
	err := http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if size, err := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64); err == nil {
			w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
			_, _ = io.CopyN(w, zeros{}, size)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s %d", r.Method, r.Proto, n)
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
	return true
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// server is one that runs as a process of its own.
type server struct {
	*proxytest.Process
	cmd *exec.Cmd
}

// Kill ends it without a chance to end in order.
func (s *server) Kill() {
	_ = s.cmd.Process.Kill()
	s.Stop()
}

func upstream(t *testing.T, address string) *server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), upstreamVariable+"="+address)
	return &server{proxytest.Start(t, address, cmd), cmd}
}
