package rulefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// report is one call of the function that Watch got.
type report struct {
	result *Result
	err    error
}

// watch starts Watch and returns what it reports.
func watch(t *testing.T, path string, opts ...Option) <-chan report {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reports, done := make(chan report, 100), make(chan struct{})
	go func() {
		defer close(done)
		opts = append([]Option{Debounce(20 * time.Millisecond)}, opts...)
		_ = Watch(ctx, path, func(r *Result, err error) { reports <- report{r, err} }, opts...)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return reports
}

// next waits for a report: for long, so that a slow machine is no failure.
func next(t *testing.T, reports <-chan report) report {
	t.Helper()
	select {
	case r := <-reports:
		return r
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was reported")
		return report{}
	}
}

// until skips reports until one has the rules, in case a change was seen in two steps.
func until(t *testing.T, reports <-chan report, names string) {
	t.Helper()
	for {
		if r := next(t, reports); r.err == nil && ruleNames(r.result) == names {
			return
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mount makes dir look as Kubernetes mounts a config map, or swaps its contents.
func mount(t *testing.T, dir, version, text string) {
	t.Helper()
	do(t, os.Mkdir(filepath.Join(dir, ".."+version), 0o755))
	put(t, filepath.Join(dir, ".."+version, "rules.yaml"), text)
	do(t, os.Symlink(".."+version, filepath.Join(dir, "..data_tmp")))
	do(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	if _, err := os.Lstat(filepath.Join(dir, "rules.yaml")); err != nil {
		do(t, os.Symlink(filepath.Join("..data", "rules.yaml"), filepath.Join(dir, "rules.yaml")))
	}
}

func TestWatchFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rules.yaml")
	put(t, path, named("a"))
	reports := watch(t, path)
	until(t, reports, "a")

	put(t, path, named("b")) // written in place
	until(t, reports, "b")

	put(t, filepath.Join(dir, "rules.yaml.swp"), named("c")) // as editors do
	do(t, os.Rename(filepath.Join(dir, "rules.yaml.swp"), path))
	until(t, reports, "c")

	do(t, os.Remove(path))
	if r := next(t, reports); r.err == nil {
		t.Error("no error for a file that is gone")
	}
	put(t, path, named("c")) // the same as before, but an error was reported since
	until(t, reports, "c")

	put(t, path, "rules:\n  - name: [half")
	if r := next(t, reports); r.err == nil || r.result != nil {
		t.Errorf("got %+v for a broken file", r)
	}
	put(t, path, named("d"))
	until(t, reports, "d")
}

func TestWatchDirectory(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": named("a")})
	reports := watch(t, dir)
	until(t, reports, "a")
	put(t, filepath.Join(dir, "b.yaml"), named("b"))
	until(t, reports, "a b")
	do(t, os.Remove(filepath.Join(dir, "a.yaml")))
	until(t, reports, "b")
}

func TestWatchKubernetes(t *testing.T) {
	for _, name := range []string{"", "rules.yaml"} {
		t.Run("path "+name, func(t *testing.T) {
			dir := t.TempDir()
			mount(t, dir, "1", named("a"))
			reports := watch(t, filepath.Join(dir, name))
			until(t, reports, "a")
			mount(t, dir, "2", named("b"))
			until(t, reports, "b")
			do(t, os.RemoveAll(filepath.Join(dir, "..1")))
			mount(t, dir, "3", named("c"))
			until(t, reports, "c")
		})
	}
}

// A link whose target changes elsewhere is seen too.
func TestWatchLink(t *testing.T) {
	target := write(t, map[string]string{"real.yaml": named("a")})
	link := filepath.Join(t.TempDir(), "rules.yaml")
	do(t, os.Symlink(filepath.Join(target, "real.yaml"), link))
	reports := watch(t, link)
	until(t, reports, "a")
	put(t, filepath.Join(target, "real.yaml"), named("b"))
	until(t, reports, "b")
}

// So is a link to a directory, at the end of the path or on the way, that is changed to
// lead elsewhere, as some deployments do.
func TestWatchLinkedDirectory(t *testing.T) {
	for _, name := range []string{"", "rules.yaml"} {
		t.Run("path "+name, func(t *testing.T) {
			one, two := write(t, map[string]string{"rules.yaml": named("a")}), write(t, map[string]string{"rules.yaml": named("b")})
			link := filepath.Join(t.TempDir(), "current")
			do(t, os.Symlink(one, link))
			reports := watch(t, filepath.Join(link, name), Recheck(time.Hour))
			until(t, reports, "a")
			do(t, os.Symlink(two, link+".new"))
			do(t, os.Rename(link+".new", link))
			until(t, reports, "b")
			put(t, filepath.Join(two, "rules.yaml"), named("c"))
			until(t, reports, "c")
		})
	}
}

// What is written again without a change is not reported: the next report is the one of
// the change after it.
func TestWatchSameContents(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": named("a")})
	r, err := Load(dir)
	do(t, err)
	reports := watch(t, dir, Since(r), Recheck(5*time.Millisecond))
	put(t, filepath.Join(dir, "a.yaml.tmp"), named("a"))
	do(t, os.Rename(filepath.Join(dir, "a.yaml.tmp"), filepath.Join(dir, "a.yaml")))
	put(t, filepath.Join(dir, "b.yaml.tmp"), named("b"))
	do(t, os.Rename(filepath.Join(dir, "b.yaml.tmp"), filepath.Join(dir, "b.yaml")))
	if r := next(t, reports); r.err != nil || ruleNames(r.result) != "a b" {
		t.Errorf("got %+v", r)
	}
}

// A directory that is removed and made again, with the one above it or by another in
// its place, is seen without waiting for a recheck.
func TestWatchDirectoryComesAgain(t *testing.T) {
	for _, name := range []string{"", "rules.yaml"} {
		t.Run("path "+name, func(t *testing.T) {
			above := filepath.Join(t.TempDir(), "above")
			dir := filepath.Join(above, "rules")
			fill := func(text string) {
				do(t, os.MkdirAll(dir, 0o755))
				put(t, filepath.Join(dir, "rules.yaml"), text)
			}
			reports := watch(t, filepath.Join(dir, name), Recheck(time.Hour))
			if r := next(t, reports); r.err == nil {
				t.Fatal("no error for what is not there")
			}
			fill(named("a"))
			until(t, reports, "a")
			do(t, os.RemoveAll(above))
			if r := next(t, reports); r.err == nil {
				t.Fatal("no error for what is gone")
			}
			fill(named("b"))
			until(t, reports, "b")
			do(t, os.Rename(dir, dir+".old"))
			fill(named("c"))
			until(t, reports, "c")
		})
	}
}

// A file that is written to when Watch begins is read soon after, not at the recheck.
func TestWatchBeginsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := 0
		w := newWatcher("x.yaml", newOptions([]Option{Recheck(time.Hour)}), func(*Result, error) { calls++ })
		tries := 0
		w.read = func(string) ([]*source, error) {
			if tries++; tries < 3 {
				return nil, errBusy
			}
			return []*source{newSource("x.yaml", []byte(named("a")))}, nil
		}
		_ = w.loop(ctx, nil, nil)
		if calls != 1 || tries != 3 {
			t.Errorf("%d reports after reading %d times", calls, tries)
		}
	})
}

// The end of what the system tells is no reason to read without end.
func TestWatchLosesTheSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		reads := 0
		w := newWatcher("x.yaml", newOptions([]Option{Recheck(time.Second)}), func(*Result, error) {})
		w.read = func(string) ([]*source, error) {
			reads++
			return nil, errors.New("none")
		}
		events, lost := make(chan fsnotify.Event), make(chan error)
		close(events)
		close(lost)
		_ = w.loop(ctx, events, lost)
		if reads < 59 || reads > 61 {
			t.Errorf("%d reads in a minute, one a second was asked for", reads)
		}
	})
}

// Without a word from the system, reading now and then finds changes; and an error that
// stays is reported once.
func TestWatchRecheck(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "rules")
	reports := watch(t, filepath.Join(dir, "rules.yaml"), Recheck(5*time.Millisecond))
	if r := next(t, reports); r.err == nil {
		t.Fatal("no error for a file that is not there")
	}
	do(t, os.Mkdir(dir, 0o755)) // was not there to be observed
	put(t, filepath.Join(dir, "tmp"), named("a"))
	do(t, os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "rules.yaml")))
	if r := next(t, reports); r.err != nil || ruleNames(r.result) != "a" {
		t.Errorf("got %+v", r)
	}
}

// However often the files are read, each state of them is reported once.
func TestWatcherReportsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	calls, failures := 0, 0
	w := newWatcher(path, newOptions(nil), func(_ *Result, err error) {
		calls++
		if err != nil {
			failures++
		}
	})
	steps := []struct {
		name            string
		change          func()
		calls, failures int
	}{
		{"not there", func() {}, 1, 1},
		{"good", func() { put(t, path, named("a")) }, 2, 1},
		{"the same again", func() { put(t, path, named("a")) }, 2, 1},
		{"broken", func() { put(t, path, "rules: [") }, 3, 2},
		{"good as before", func() { put(t, path, named("a")) }, 4, 2},
		{"another", func() { put(t, path, named("b")) }, 5, 2},
		{"empty", func() { put(t, path, "") }, 6, 3},
		{"gone", func() { do(t, os.Remove(path)) }, 7, 4},
	}
	for _, step := range steps {
		step.change()
		for range 3 {
			if w.load() {
				t.Fatalf("%s: busy", step.name)
			}
		}
		if calls != step.calls || failures != step.failures {
			t.Fatalf("%s: %d calls with %d failures, want %d with %d", step.name, calls, failures, step.calls, step.failures)
		}
	}
}

// Files with other names in the same directory cause no reading.
func TestWatcherConcerns(t *testing.T) {
	for path, cases := range map[string]map[string]bool{
		"/d/rules.yaml": {"/d/rules.yaml": true, "/d/..data": true, "/d/app.log": false, "/d/rules.yaml~": false, "/d": true, "/": false, "/data": false},
		"/d/rules.conf": {"/d/rules.conf": true, "/d/app.log": false},
		"/d":            {"/d/a.yml": true, "/d/.a.yml.swp": false, "/d/4913": false, "/d": true},
	} {
		w := newWatcher(path, newOptions(nil), nil)
		for name, want := range cases {
			if got := w.concerns(name); got != want {
				t.Errorf("watching %s, change of %s: got %v", path, name, got)
			}
		}
	}
}
