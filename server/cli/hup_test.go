//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sluice-limiter/sluice/server/cli"
)

// A SIGHUP that comes while the server starts ends nothing, and is not forgotten. The
// server reads its tokens from a pipe, so that the test knows where it is.
func TestSignalWhileStarting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "tokens")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	out, said := io.Pipe()
	go func() {
		defer said.Close()
		ended <- cli.Run(ctx, cli.Terminal{Args: []string{"serve", "--listen", "127.0.0.1:0", "--tokens-file", pipe}, Out: said, Err: &errs})
	}()
	tokens := func(signal bool) {
		t.Helper()
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the server reads
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if signal {
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.WriteString("a-token-of-some-length\n"); err != nil {
			t.Fatal(err)
		}
	}
	tokens(true)
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil { // it has read them
		t.Fatal(line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	tokens(false) // the reload
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d\n%s", code, errs.String())
	}
}
