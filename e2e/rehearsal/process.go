package rehearsal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// patience is how long a process may take to start, and to end.
const patience = time.Minute

// process is one of the deployment, in the place of a pod.
type process struct {
	name  string
	cmd   *exec.Cmd
	said  tail
	ended chan struct{} // closed when it has ended
	err   error         // how; only after ended
	told  bool          // that it has ended, though it was not to
}

// tail keeps the last of what a process prints: where it listens, or why it ended.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - 16<<10; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// start runs a command. It is in a group of its own, so that Ctrl-C reaches the rehearsal
// alone, which ends its processes in order; and it ends with the rehearsal in any case.
func start(name string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGQUIT
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w (make deps installs what is missing)", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// address waits until the process has printed where it listens.
func (p *process) address(ctx context.Context, where *regexp.Regexp) (address string, err error) {
	err = p.await(ctx, func() error {
		match := where.FindStringSubmatch(p.said.String())
		if match == nil {
			return errors.New("it does not say where it listens")
		}
		address = match[1]
		return nil
	})
	return address, err
}

// await waits until ready has no error.
func (p *process) await(ctx context.Context, ready func() error) error {
	for begin := time.Now(); ; {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return p.failure()
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(begin) > patience {
			return fmt.Errorf("%s is not there after %v: %w\n%s", p.name, patience, err, &p.said)
		}
	}
}

func (p *process) failure() error {
	p.told = true
	return fmt.Errorf("%s has ended (%v):\n%s", p.name, p.cmd.ProcessState, &p.said)
}

// end ends the process by a signal, and tells if it had ended before, or does not end well.
func (p *process) end(by syscall.Signal) error {
	select {
	case <-p.ended:
		if p.told {
			return nil
		}
		return p.failure()
	default:
	}
	_ = p.cmd.Process.Signal(by)
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if p.err == nil || status.Signal() == by { // it may have been too young to know the signal
		return nil
	}
	return p.failure()
}
