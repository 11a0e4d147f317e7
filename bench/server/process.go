package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// process is a server that runs.
type process struct {
	cmd     *exec.Cmd
	address string
	ended   chan error
}

var says = regexp.MustCompile(`listens on http://(\S+)`)

// launch starts a server and waits until it says where it listens.
func launch(env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	first, _ := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		p.ended <- p.cmd.Wait()
	}()
	found := says.FindStringSubmatch(first)
	if found == nil {
		_ = p.cmd.Process.Kill()
		return nil, fmt.Errorf("%s does not say where it listens: %q: %w", program, first, <-p.ended)
	}
	p.address = found[1]
	return p, nil
}

// stop ends the process in order.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	err := <-p.ended
	if status := (*exec.ExitError)(nil); errors.As(err, &status) && status.Sys().(syscall.WaitStatus).Signaled() {
		return nil // the no-op server knows no better
	}
	return err
}

// tick is the unit of times in /proc, which is the same on every Linux.
const tick = 10 * time.Millisecond

// cpu is the processor time that it has taken so far.
func (p *process) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system int64
	if len(fields) < 13 {
		return 0
	}
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * tick
}

// memory is what it has in memory now, in bytes.
func (p *process) memory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var kib int64
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	_, _ = fmt.Sscan(after, &kib)
	return kib << 10
}
