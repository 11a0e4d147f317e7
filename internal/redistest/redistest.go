// Package redistest starts real Redis servers for tests.
package redistest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Start starts an empty redis-server on a free port of this machine, waits until it
// accepts connections and returns its address. It ends with the test. A test that
// needs Redis and finds none fails: it is never skipped.
func Start(t testing.TB, options ...string) (addr string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redistest: no redis-server in PATH: install Redis 6.2 or newer (Debian: apt-get install redis-server); " +
			"tests of the Redis store are not skipped")
	}
	for range 5 {
		if addr, err = try(t, path, options); err == nil {
			return addr
		}
		t.Logf("redistest: %v; trying another port", err)
	}
	t.Fatalf("redistest: could not start %s: %v", path, err)
	return ""
}

// try starts a server on a port that was free a moment ago.
func try(t testing.TB, path string, options []string) (addr string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	args := append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", t.TempDir(), "--daemonize", "no",
	}, options...)
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if err := ready(out); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return "", err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, out)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// ready reads the server's log until it says that it accepts connections.
func ready(log io.Reader) error {
	var said []string
	for lines := bufio.NewScanner(log); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, "eady to accept connections") {
			return nil
		}
		said = append(said, line)
	}
	return fmt.Errorf("the server ended: %s", strings.Join(said, "\n"))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
