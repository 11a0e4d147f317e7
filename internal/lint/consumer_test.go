package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const consumerMain = `package main

import (
	"fmt"

	"github.com/sluice-limiter/sluice"
)

func main() {
	limiter := sluice.NewLimiter(sluice.PerSecond(1))
	fmt.Println(limiter.Allow())
}
`

// TestConsumerHasTwoModules builds what a user would: a program that imports the root
// package. Its build list is the program and sluice, and nothing is fetched for it.
func TestConsumerHasTwoModules(t *testing.T) {
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "main.go", consumerMain)
	write(t, dir, "go.mod", "module example.com/consumer\n\ngo 1.26\n\n"+
		"require "+modulePath+" v0.0.0\n\nreplace "+modulePath+" => "+strconv.Quote(filepath.ToSlash(root))+"\n")

	if got := goCommand(t, dir, "run", "."); got != "true\n" {
		t.Errorf("the consumer printed %q, want %q", got, "true\n")
	}
	modules := goCommand(t, dir, "list", "-m", "all")
	lines := strings.Split(strings.TrimSpace(modules), "\n")
	if len(lines) != 2 || lines[0] != "example.com/consumer" || !strings.HasPrefix(lines[1], modulePath+" ") {
		t.Errorf("a consumer's build list must be itself and sluice, two lines; it is:\n%s", modules)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.sum")); err == nil {
		t.Error("the consumer got a go.sum although nothing had to be fetched")
	}
}

// goCommand runs the go command in dir, alone and offline, and returns its standard output.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s in a consumer of the root package: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(stdout)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
