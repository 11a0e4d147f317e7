package deploy

import (
	"bufio"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// printed is a command of the README and what it prints there.
type printed struct{ command, answer string }

var (
	blockOf  = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	whereAt  = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)
	inReadme = "http://127.0.0.1:8080" // what make run listens on
)

// curls returns the lines of a page that begin with "$ curl", with the lines below each.
func curls(page string) (all []printed) {
	for _, block := range blockOf.FindAllStringSubmatch(page, -1) {
		var now *printed
		for line := range strings.Lines(block[1]) {
			command, isCommand := strings.CutPrefix(line, "$ ")
			switch {
			case isCommand && strings.HasPrefix(command, "curl "):
				all = append(all, printed{command: command})
				now = &all[len(all)-1]
			case isCommand:
				now = nil
			case now != nil:
				now.answer += line
			}
		}
	}
	return all
}

// serve starts the program as make run does, on a free port, and returns its address.
func serve(t *testing.T, flags ...string) string {
	t.Helper()
	cmd := exec.Command(program.Path(t), append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Env = []string{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	first, err := said.ReadString('\n')
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, said)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	address := whereAt.FindString(first)
	if err != nil || address == "" {
		t.Fatalf("%v: it does not say where it listens: %q", err, first)
	}
	return address
}

// TestReadme runs the curl lines of the README as they stand there, one after the other
// against a fresh server, and compares every byte of the answers. Only the port differs.
func TestReadme(t *testing.T) {
	lines := curls(read(t, "README.md"))
	if len(lines) == 0 {
		t.Fatal("the README has no line that begins with $ curl")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("no curl in PATH (Debian: apt-get install curl)")
	}
	address := serve(t)
	for _, line := range lines {
		if !strings.Contains(line.command, inReadme) || line.answer == "" {
			t.Errorf("%q does not ask %s, or shows no answer", line.command, inReadme)
			continue
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line.command, inReadme, address)).Output()
		if err != nil || string(out) != line.answer {
			t.Errorf("$ %sgives (%v)\n%sthe README prints\n%s", line.command, err, out, line.answer)
		}
	}
}
