package envoy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// File is the text of a file.
type File struct {
	Name string
	Data []byte
}

// Load reads a file, or all *.yaml and *.yml files of a folder in the order of their
// names, without hidden ones and those below it. The error is of type rulefile.Problems.
func Load(path string, o Options) (*Tree, error) {
	stamp := Stamp(path)
	files, err := Read(path)
	if err != nil {
		return nil, rulefile.Problems{{File: path, Reason: err.Error(), Hint: "name a file or folder with descriptors"}}
	}
	tree, err := Parse(files, o)
	if err == nil {
		tree.stamp = stamp
	}
	return tree, err
}

// Read returns the files that Load reads.
func Read(path string) ([]File, error) {
	names, err := list(path)
	if err != nil {
		return nil, err
	}
	var files []File
	total := int64(0)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if total += info.Size(); total > rulefile.MaxSize {
			return nil, fmt.Errorf("more than %d bytes of descriptors", rulefile.MaxSize)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{name, data})
	}
	return files, nil
}

func list(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // in the order of names
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		full := filepath.Join(path, e.Name())
		if strings.HasPrefix(e.Name(), ".") || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if info, err := os.Stat(full); err == nil && info.IsDir() { // also behind a link
			continue
		}
		names = append(names, full)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no *.yaml file in the folder")
	}
	return names, nil
}

// Stamp tells versions of the files apart, without reading them: by names, times and
// sizes, also behind links, such as those of a ConfigMap.
func Stamp(path string) string {
	names, err := list(path)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().Format(time.RFC3339Nano))
	}
	return b.String()
}
