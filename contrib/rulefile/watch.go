package rulefile

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watch calls fn with what path holds now, and again after every change of it, until
// ctx ends; then it returns the context's error. It blocks: start it with go. fn runs in
// the goroutine of Watch, and gets either a result or an error, after which the last
// result still holds. A change that leaves the contents as they were is none.
//
// Writing a file at once under another name and renaming it is the safe way to change
// one. A file that is written in place is read when nothing has happened for the
// debounce time; the first half of one is then refused if it is not complete YAML, but
// a half that is looks like a shorter file.
//
// The system tells of changes, also of a directory that is removed and made again. Where
// it cannot (no inotify left, a network drive), the files are read every Recheck.
func Watch(ctx context.Context, path string, fn func(*Result, error), opts ...Option) error {
	w := newWatcher(path, newOptions(opts), fn)
	var events chan fsnotify.Event
	var lost chan error
	if notify, err := fsnotify.NewWatcher(); err == nil {
		defer notify.Close()
		w.notify, events, lost = notify, notify.Events, notify.Errors
	}
	return w.loop(ctx, events, lost)
}

// watcher follows one path.
type watcher struct {
	path    string
	options *options
	fn      func(*Result, error)
	read    func(path string) ([]*source, error)
	notify  *fsnotify.Watcher // nil if the system has none
	whole   string            // the path from the root on, as the system tells of it

	seen string // what was reported last: a hash, or the text of an error
}

func newWatcher(path string, o *options, fn func(*Result, error)) *watcher {
	w := &watcher{path: path, options: o, fn: fn, read: readAll, whole: path}
	if whole, err := filepath.Abs(path); err == nil {
		w.whole = whole
	}
	if o.since != nil {
		w.seen = o.since.Hash
	}
	return w
}

// patience is how many debounce times a stream of changes can put off reading.
const patience = 10

func (w *watcher) loop(ctx context.Context, events <-chan fsnotify.Event, lost <-chan error) error {
	recheck := time.NewTicker(max(w.options.recheck, time.Millisecond))
	defer recheck.Stop()
	var quiet, late <-chan time.Time // nothing happened for a while; it was put off for long
	due := true
	for {
		if due {
			quiet, late = nil, nil
			w.observe()
			if busy := w.load(); busy {
				quiet = time.After(w.options.debounce)
			}
		}
		due = false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-events:
			if !ok {
				events = nil
			} else if w.concerns(event.Name) {
				quiet = time.After(w.options.debounce)
				if late == nil {
					late = time.After(patience * w.options.debounce)
				}
			}
		case _, ok := <-lost:
			if !ok {
				lost = nil
			} else { // such as too many at once: any of them may have been ours
				quiet = time.After(w.options.debounce)
			}
		case <-quiet:
			due = true
		case <-late:
			due = true
		case <-recheck.C:
			due = quiet == nil // else it is about to be read anyway
		}
	}
}

// load reads the files and reports them if they are not what was reported last. It
// returns whether they are being written to.
func (w *watcher) load() (busy bool) {
	sources, err := w.read(w.path)
	if errors.Is(err, errBusy) {
		return true
	}
	if err != nil {
		if w.seen != err.Error() {
			w.seen = err.Error()
			w.fn(nil, err)
		}
		return false
	}
	if hash := hashOf(sources); hash != w.seen {
		w.seen = hash
		w.fn(assemble(sources, w.options))
	}
	return false
}
