package gateway

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a program that runs, with all that it has started.
type process struct {
	cmd     *exec.Cmd
	address string
	log     *os.File
}

// free returns an address that nobody listens on.
func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// launch starts a program that is to listen on an address, and waits until it does.
func launch(dir, name, address string, env []string, program string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, args...), address: address, log: log}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its workers are counted and ended with it
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return p, c.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("%s does not listen on %s:\n%s", name, address, text)
}

// stop ends the program and all that it has started.
func (p *process) stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	_ = p.log.Close()
}

// tick is the unit of times in /proc, which is the same on every Linux.
const tick = 10 * time.Millisecond

// cpu is the processor time that it and all that it has started have taken so far.
func (p *process) cpu() (total time.Duration) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(f)
		_ = f.Close()
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		var group, user, system int64
		if len(fields) < 13 {
			continue
		}
		_, _ = fmt.Sscan(fields[2], &group)
		if group != int64(p.cmd.Process.Pid) {
			continue
		}
		_, _ = fmt.Sscan(fields[11], &user)
		_, _ = fmt.Sscan(fields[12], &system)
		total += time.Duration(user+system) * tick
	}
	return total
}
