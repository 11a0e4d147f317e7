package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// TestMain finds goroutines that were left behind, and removes the program.
func TestMain(m *testing.M) { program.Main(m) }

const token = "0123456789abcdef"

// server is the program as it runs.
type server struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	ended   chan error
	once    sync.Once
}

// start runs the program with these rules until the test ends. Every setting is a
// variable, NAME=value.
func start(t *testing.T, rules string, settings ...string) *server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, ended: make(chan error, 1)}
	s.cmd = exec.Command(program.Path(t), "serve", "--config", file)
	s.cmd.Env = append([]string{"SLUICE_LISTEN=127.0.0.1:0", "SLUICE_TOKENS_ENV=TOKENS", "TOKENS=" + token}, settings...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	s.cmd.Stderr = &log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, _ := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.ended <- s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the server said:\n%s", log.String())
		}
	})
	found := regexp.MustCompile(`http://(127\.0\.0\.1:[0-9]+)`).FindStringSubmatch(first)
	if found == nil {
		s.end(syscall.SIGKILL)
		t.Fatalf("it does not say where it listens: %q\n%s", first, log.String())
	}
	s.address = found[1]
	return s
}

// end sends a signal and waits for the end. It returns how it ended.
func (s *server) end(signal syscall.Signal) (err error) {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(signal)
		err = <-s.ended
	})
	return err
}

// request makes one with the token.
func (s *server) request(method, path, body string) *http.Request {
	r, err := http.NewRequest(method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// text returns the body of an answer, over a connection of its own.
func (s *server) text(method, path, body string) string {
	s.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	answer, err := client.Do(s.request(method, path, body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %s %s %v", method, path, answer.Status, text, err)
	}
	return string(text)
}

// metric returns the value of a metric without labels.
func (s *server) metric(name string) (value float64) {
	s.t.Helper()
	for line := range strings.Lines(s.text("GET", "/metrics", "")) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("there is no metric %s", name)
	return 0
}

// memory returns a line of /proc/PID/status in bytes: VmRSS now, VmHWM at most so far.
func (s *server) memory(name string) int64 {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	var kib int64
	_, after, _ := strings.Cut(string(status), name+":")
	if _, err := fmt.Sscan(after, &kib); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return kib << 10
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}
