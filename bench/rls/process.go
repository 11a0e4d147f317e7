package rls

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// process is a server that runs.
type process struct {
	cmd   *exec.Cmd
	log   bytes.Buffer // read after it has ended
	ended chan struct{}
}

// launch starts a server and waits until it listens on the address.
func launch(address string, env []string, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended does not matter: it is always killed
		close(p.ended)
	}()
	for range 300 {
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s has ended:\n%s", program, p.log.String())
		case <-time.After(100 * time.Millisecond):
		}
		if c, err := net.Dial("tcp", address); err == nil {
			return p, c.Close()
		}
	}
	p.stop()
	return nil, fmt.Errorf("%s does not listen on %s after 30 s:\n%s", program, address, p.log.String())
}

func (p *process) stop() {
	_ = p.cmd.Process.Kill() // it has nothing to lose
	<-p.ended
}

// freeAddress returns one that nobody has at this moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// build makes a program of a package of the module in a folder.
func build(module, pkg, program string) error {
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s in %s: %w\n%s", pkg, module, err, text)
	}
	return nil
}
