package frame

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build makes the program sluice in a folder and returns its path. The current folder is
// in the module of the benchmarks.
func Build(dir string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "sluice")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/sluice")
	cmd.Dir = filepath.Join(root, "server")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0") // as it is shipped
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return program, nil
}

// Root is the folder of the repository.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))), nil
}
