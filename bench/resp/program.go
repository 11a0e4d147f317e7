package resp

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// program is a sluice that serves.
type program struct {
	cmd     *exec.Cmd
	dir     string
	address string // of the door
}

// launch makes the program in a folder of its own and starts it.
func launch() (*program, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-resp-")
	if err != nil {
		return nil, err
	}
	p := &program{dir: dir}
	if err := p.start(); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *program) start() error {
	binary, err := frame.Build(p.dir)
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		return err
	}
	p.cmd = exec.Command(binary, "serve", "--config", file, "--listen", "127.0.0.1:0", "--resp", "127.0.0.1:0")
	log, err := p.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	select {
	case p.address = <-addressIn(log):
	case <-time.After(30 * time.Second):
	}
	if p.address == "" {
		return errors.New("sluice does not start")
	}
	return nil
}

// addressIn waits for the address in a log, and reads on so that nobody has to wait to
// write. It sends nothing if there is none.
func addressIn(log io.Reader) <-chan string {
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if match := serving.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, log)
	}()
	return found
}

// stop ends the program and removes it.
func (p *program) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
	_ = os.RemoveAll(p.dir)
}

// serving is the line of its log that tells the address.
var serving = regexp.MustCompile(`door=resp address=(\S+)`)
