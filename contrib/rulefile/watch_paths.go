package rulefile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// observe asks the system to tell of changes: in the directory, not of the file, which
// editors replace; and in the one where a link leads to. Instead of a directory that is
// not there it is the nearest above it, until it is there again.
func (w *watcher) observe() {
	if w.notify == nil {
		return
	}
	wanted := w.linked()
	for _, path := range []string{w.whole, w.real()} {
		dir := nearest(path)
		for {
			// An error leaves it to the next time, and until then to reading now and then.
			_ = w.notify.Add(dir)
			now := nearest(path)
			if now == dir {
				break
			}
			dir = now // it came or went before it was observed
		}
		wanted = append(wanted, dir)
	}
	for _, dir := range w.notify.WatchList() {
		if !slices.Contains(wanted, dir) {
			_ = w.notify.Remove(dir)
		}
	}
}

// linked observes the directories in which a link on the way to the path can be changed,
// and returns them.
func (w *watcher) linked() []string {
	var dirs []string
	for path := w.whole; filepath.Dir(path) != path; path = filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			_ = w.notify.Add(filepath.Dir(path))
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return dirs
}

// nearest returns the path if it is a directory, else the nearest one above it.
func nearest(path string) string {
	for {
		info, err := os.Stat(path)
		above := filepath.Dir(path)
		if err == nil && info.IsDir() || above == path {
			return path
		}
		path = above
	}
}

// real returns where the path leads to in the end.
func (w *watcher) real() string {
	if real, err := filepath.EvalSymlinks(w.whole); err == nil {
		return real
	}
	return w.whole
}

// concerns reports whether a change of that name can change what is read: of a rule
// file, of what Kubernetes puts links to, or of a directory on the way to them. Others,
// such as of a log in the same directory, cannot.
func (w *watcher) concerns(name string) bool {
	base := filepath.Base(name)
	if isRuleFile(base) || strings.HasPrefix(base, "..") {
		return true
	}
	return leadsTo(name, w.whole) || leadsTo(name, w.real())
}

// leadsTo reports whether a path is the other one or a directory above it.
func leadsTo(path, other string) bool {
	rest, ok := strings.CutPrefix(other, path)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}
