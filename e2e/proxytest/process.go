package proxytest

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a process may take to start.
const patience = 30 * time.Second

// Process is a program that was started for a test, and ends with it.
type Process struct {
	Addr string // host:port where it answers

	cmd  *exec.Cmd
	out  output
	done chan struct{} // closed when it has ended
	stop sync.Once
}

// output is what a program prints, to be read while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// Output returns what the program has printed.
func (p *Process) Output() string {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return p.out.b.String()
}

// Says waits until the program has printed a text, and reports whether it has.
func (p *Process) Says(text string) bool {
	for deadline := time.Now().Add(patience); !strings.Contains(p.Output(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Start runs a program and waits until it answers at addr.
func Start(t testing.TB, addr string, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Addr: addr, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	if err := cmd.Start(); err != nil {
		t.Fatalf("proxytest: %v (make deps installs what is missing)", err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(p.Stop)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s printed:\n%s", cmd.Path, p.Output())
		}
	})
	if err := p.answers(); err != nil {
		t.Fatalf("proxytest: %s: %v", cmd.Path, err)
	}
	return p
}

// Dir returns the folder of its settings.
func (p *Process) Dir() string { return p.cmd.Dir }

// answers waits until somebody listens.
func (p *Process) answers() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c, err := net.Dial("tcp", p.Addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("it ended at once:\n%s", p.Output())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("within %v it did not listen: %w\n%s", patience, err, p.Output())
		}
	}
}

// Stop ends it, and returns when it has ended.
func (p *Process) Stop() {
	p.stop.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(patience):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
	})
}

// FreeAddr returns an address that is free now. Somebody else may take it: then the
// program that was to have it does not start, and says why.
func FreeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
