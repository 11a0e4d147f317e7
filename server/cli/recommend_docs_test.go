//go:build !race

package cli_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/cli"
)

// TestThresholdsPage runs every command of docs/THRESHOLDS.md, in order and in one
// folder, and compares what it prints: … stands for anything in a line, and alone for
// any lines.
func TestThresholdsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/THRESHOLDS.md")
	if err != nil {
		t.Fatal(err)
	}
	log, err := filepath.Abs(testLogs + "wordpress-2016.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile("../../docs/img/front.svg")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(log, "access.log.gz"); err != nil {
		t.Fatal(err)
	}
	w := walk{t: t, address: freeAddress(t), end: func() {}}
	defer func() { w.end() }()
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			w.step(command, want)
			commands++
		}
	}
	if drawn, err := os.ReadFile("front.svg"); err != nil || !bytes.Equal(drawn, picture) {
		t.Errorf("docs/img/front.svg is not what sluice recommend --svg draws (%v)", err)
	}
	if commands < 8 {
		t.Errorf("%d commands", commands)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// walk is somebody who types what a page says.
type walk struct {
	t       *testing.T
	address string // of the server, in place of the page's
	end     func()
}

const pageAddress = "127.0.0.1:8080"

func (w *walk) step(command, want string) {
	w.t.Helper()
	typed := strings.ReplaceAll(command, pageAddress, w.address)
	var out, complaint string
	code := 0
	switch words := strings.Fields(typed); {
	case words[0] == "sluice" && words[1] == "serve":
		w.serve(words[1 : len(words)-1])
	case words[0] == "sluice":
		out, complaint, code = commandWith(w.t.Context(), []string{"SLUICE_SERVER=http://" + w.address}, words[1:])
	default:
		text, err := exec.Command("sh", "-c", typed).CombinedOutput()
		if out = string(text); err != nil {
			w.t.Errorf("%s: %v", command, err)
		}
	}
	out = strings.ReplaceAll(out, w.address, pageAddress)
	if code != 0 || complaint != "" {
		w.t.Fatalf("%s: exit code %d, %s", command, code, complaint)
	}
	if !fits(want, out) {
		w.t.Errorf("$ %s\n%s\nwant\n%s", command, out, want)
	}
}

// commandWith is command with variables of the environment.
func commandWith(ctx context.Context, environ, args []string) (out, complaint string, code int) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(ctx, cli.Terminal{Args: args, Out: &stdout, Err: &stderr, Environ: environ})
	return stdout.String(), stderr.String(), code
}

// serve starts a server until end.
func (w *walk) serve(args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		commandWith(ctx, []string{"SLUICE_LISTEN=" + w.address}, args)
	}()
	w.end = func() {
		cancel()
		<-done
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", w.address); err == nil {
			_ = c.Close()
			return
		}
	}
	w.t.Fatal("the server does not listen")
}

// fits compares what was printed with what the page shows.
func fits(want, got string) bool {
	var pattern strings.Builder
	pattern.WriteString(`(?s)^`)
	if want != "" {
		want = strings.TrimSuffix(want, "\n") + "\n"
	}
	for line := range strings.Lines(want) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)??`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`))
	}
	return regexp.MustCompile(pattern.String() + `$`).MatchString(got)
}
