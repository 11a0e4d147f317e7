package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Server is one redis-server process. It survives its process: it can be killed
// and started again on the same port with the same files.
type Server struct {
	t      testing.TB
	role   []string // further arguments of redis-server
	lines  []string // of its configuration
	port   int
	dir    string
	proc   *process
	failed bool // to start
}

// Start starts a standalone server that keeps nothing on disk. Options are lines of
// its configuration, such as "maxmemory 4mb" or "appendonly yes".
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	lines := []string{`save ""`, "appendonly no"}
	return start(t, nil, append(lines, options...))
}

// start starts a server on a free port and waits until it answers.
func start(t testing.TB, role, lines []string) *Server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("redistest: %v: run 'make deps', or install Redis 6.2 or newer so that redis-server is in PATH", err)
	}
	s := &Server{t: t, role: role, lines: lines, dir: t.TempDir()}
	t.Cleanup(s.tearDown)
	for range 5 { // the port may be taken by somebody else in between
		s.port = freePort(t)
		s.launch(program)
		if s.waitReady(); !s.failed {
			return s
		}
	}
	t.Fatalf("redistest: redis-server does not start:\n%s", s.log())
	return nil
}

// launch writes the configuration, unless there is one from before, and starts the
// process.
func (s *Server) launch(program string) {
	s.t.Helper()
	conf := filepath.Join(s.dir, fmt.Sprintf("%d.conf", s.port))
	if _, err := os.Stat(conf); err != nil {
		base := []string{fmt.Sprint("port ", s.port), "bind 127.0.0.1", "protected-mode no", "dir " + s.dir}
		text := strings.Join(append(base, s.lines...), "\n") + "\n"
		if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
			s.t.Fatalf("redistest: %v", err)
		}
	}
	proc, err := launch(filepath.Join(s.dir, "log"), program, append([]string{conf}, s.role...)...)
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	s.proc = proc
}

// waitReady waits until the server answers or has ended.
func (s *Server) waitReady() {
	s.t.Helper()
	Wait(s.t, "redis-server answers", func() bool {
		s.failed = !s.proc.running()
		return s.failed || s.Ready()
	})
	if s.failed {
		s.proc.kill()
	}
}

// Ready reports whether the server answers a ping: it runs and has its data loaded.
func (s *Server) Ready() bool {
	_, err := s.Try("PING")
	return err == nil
}

// Addr is the address of the server.
func (s *Server) Addr() string { return address(s.port) }

// Kill ends the process by SIGKILL and returns when it is gone.
func (s *Server) Kill() { s.proc.kill() }

// Restart starts a killed server again: same port, same files.
func (s *Server) Restart() {
	s.t.Helper()
	s.launch("redis-server")
	if s.waitReady(); s.failed {
		s.t.Fatalf("redistest: redis-server does not start again:\n%s", s.log())
	}
}

// Pause stops the process by SIGSTOP: connections stay, nothing is answered.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.proc.signal(signal); err != nil {
		s.t.Fatalf("redistest: %v: %v", signal, err)
	}
}

// tearDown ends the server, and shows its log if the test has failed.
func (s *Server) tearDown() {
	if s.proc != nil {
		s.proc.kill()
	}
	if s.t.Failed() {
		s.t.Logf("log of redis-server on port %d:\n%s", s.port, s.log())
	}
}

// log returns the last lines that the server wrote.
func (s *Server) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
