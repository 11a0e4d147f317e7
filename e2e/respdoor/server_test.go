package respdoor

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// TestMain finds goroutines that were left behind, and removes the program.
func TestMain(m *testing.M) { program.Main(m) }

// serving is the line of the log that tells where Redis clients are answered.
var serving = regexp.MustCompile(`door=resp address=(\S+)`)

// serve starts the program with its sample rules, until the test ends. It has to end in
// order then.
func serve(t *testing.T, flags ...string) (address string) {
	t.Helper()
	cmd := exec.Command(program.Path(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--resp", "127.0.0.1:0"}, flags...)...)
	cmd.Env = append(os.Environ(), "SLUICE_TEST_TOKENS="+token)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("sluice ended with %v", err)
		}
	})
	var text string
	for address == "" {
		line, err := lines.ReadString('\n')
		text += line
		if err != nil {
			close(drained)
			t.Fatalf("sluice does not start: %s", text)
		}
		if match := serving.FindStringSubmatch(line); match != nil {
			address = match[1]
		}
	}
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	return address
}

// token is one that holds if --tokens-env SLUICE_TEST_TOKENS is given.
const token = "a-token-for-tests-only"
