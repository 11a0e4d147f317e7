package redistest

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	guard *exec.Cmd
	tie   io.Closer     // the guard's input, held open by this process
	ended chan struct{} // closed when the server has ended
}

// launch starts a program whose output goes to the file log. A guard kills it
// should this process end without doing so: the end of its input tells.
func launch(log string, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.guard = exec.Command("sh", "-c", `read -r _; kill -9 "$0"`, strconv.Itoa(p.cmd.Process.Pid))
	if p.tie, err = p.guard.StdinPipe(); err == nil {
		err = p.guard.Start()
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // it is killed, so an error is what we expect
		close(p.ended)
	}()
	return p, nil
}

// running reports whether the server has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the server at once, and returns when it is gone. The guard goes first,
// lest it kill whoever gets the server's number.
func (p *process) kill() {
	_ = p.guard.Process.Kill()
	_ = p.guard.Wait()
	_ = p.tie.Close()
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }
