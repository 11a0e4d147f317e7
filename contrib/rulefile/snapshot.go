package rulefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errBusy means that a file changed while it was read.
var errBusy = errors.New("rulefile: the file changes while it is read")

// How often and how long after another a file that is being written to is read.
const (
	readTries = 5
	readPause = 20 * time.Millisecond
)

// untilSettled reads again if a file is being written to.
func untilSettled(read func() ([]*source, error)) ([]*source, error) {
	for range readTries - 1 {
		sources, err := read()
		if !errors.Is(err, errBusy) {
			return sources, err
		}
		time.Sleep(readPause)
	}
	return read()
}

// readAll reads a file, or the rule files of a directory.
func readAll(path string) ([]*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	paths := []string{path}
	if info.IsDir() {
		if paths, err = list(path); err != nil {
			return nil, err
		}
	}
	var sources []*source
	left := int64(MaxSize)
	for _, p := range paths {
		data, err := readFile(p, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(data))
		sources = append(sources, newSource(p, data))
	}
	return sources, nil
}

// list returns the rule files of a directory in the order of their names. Hidden
// ones are left out, and with them what Kubernetes keeps under ..data: its files
// are seen through the links that lead there.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !isRuleFile(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("rulefile: %w", err)
		}
		if !info.IsDir() {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("rulefile: %s: no *.yaml or *.yml file in this directory", dir)
	}
	return paths, nil
}

func isRuleFile(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"))
}

// readFile reads a regular file of at most the given size. A file that is written to
// at the same moment is not taken.
func readFile(path string, most int64) ([]byte, error) {
	before, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	if !before.Mode().IsRegular() { // to open a pipe would wait for its other end
		return nil, fmt.Errorf("rulefile: %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("rulefile: %s: rule files of more than %d bytes in all are not read (make limits by key instead of a rule for each)", path, MaxSize)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("rulefile: %w", err)
	}
	if after.Size() != int64(len(data)) || !after.ModTime().Equal(before.ModTime()) {
		return nil, fmt.Errorf("%w: %s", errBusy, path)
	}
	return data, nil
}
