package algotest

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

//go:embed scripts/*.txt
var embedded embed.FS

// base is the instant from which scripts count.
var base = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Run plays every script, each as a subtest against a store of its own that
// open makes. The store must live by the given clock, which stands still within
// a step and moves, perhaps backwards, between steps.
func Run(t *testing.T, open func(t testing.TB, now func() time.Time) store.Store) {
	t.Helper()
	files, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(path.Base(f.name), ".txt"), func(t *testing.T) {
			for _, s := range f.scripts {
				t.Run(s.name, func(t *testing.T) { f.run(t, s, open) })
			}
		})
	}
}

// run plays one script and reports all differences.
func (f *file) run(t *testing.T, s script, open func(t testing.TB, now func() time.Time) store.Store) {
	p := newPlayer()
	p.store = open(t, p.now)
	if err := p.play(s); err != nil {
		t.Fatalf("%s:%d: %v", f.name, p.line, err)
	}
	for _, d := range p.diffs {
		t.Errorf("%s:%d: %s", f.name, d.line, d)
	}
}

// load parses all embedded scripts.
func load() ([]*file, error) {
	names, err := fs.Glob(embedded, "scripts/*.txt")
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, name := range names {
		text, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// player carries out the steps of one script.
type player struct {
	store  store.Store
	clock  int64
	line   int // of the step that is being played
	limits []*limit
	marks  map[booking]algo.Mark
	diffs  []diff
}

// booking names what a cost step spent in one limit, for a later cancel.
type booking struct{ key, limit, id string }

// diff is an expected value that was not met.
type diff struct {
	want
	line int
	got  string
}

// String tells the difference without the place.
func (d diff) String() string {
	name := d.field
	if d.limit != "" {
		name = d.limit + ": " + name
	}
	return fmt.Sprintf("%s: got %s, want %s", name, d.got, d.value)
}

func newPlayer() *player { return &player{marks: map[booking]algo.Mark{}} }

func (p *player) now() time.Time { return base.Add(time.Duration(p.clock) * time.Microsecond) }

// play carries out a script. An error means that it could not go on.
func (p *player) play(s script) error {
	for _, st := range s.steps {
		p.line = st.line
		if st.limit != nil {
			p.change(st.limit)
			continue
		}
		if err := p.ask(st); err != nil {
			return err
		}
	}
	return nil
}

// change adds a limit or puts it in the place of the one with its name.
func (p *player) change(l *limit) {
	for i, old := range p.limits {
		if old.name == l.name {
			p.limits[i] = l
			return
		}
	}
	p.limits = append(p.limits, l)
}

// ask makes one request of all limits that the step names, and compares.
func (p *player) ask(st step) error {
	var a answer
	for _, l := range p.asked(st.on) {
		a.limits, a.checks = append(a.limits, l), append(a.checks, p.check(st, l))
	}
	p.clock = st.at
	if err := p.store.Take(context.Background(), st.op, a.checks); err != nil {
		return err
	}
	for i, l := range a.limits {
		if st.op == store.Spend && st.id != "" {
			p.marks[booking{st.check.Key, l.name, st.id}] = a.checks[i].Mark
		}
	}
	for _, x := range st.want {
		got := a.value(st.op, x)
		if canonical, err := x.canonical(); err != nil || canonical != got {
			p.diffs = append(p.diffs, diff{x, st.line, got})
		}
	}
	return nil
}

// check is what the step asks of one limit.
func (p *player) check(st step, l *limit) store.Check {
	c := st.check
	c.Spec, c.Shadow = l.spec, l.shadow
	switch st.op {
	case store.Reserve, store.Commit:
		c.ID = st.id
	case store.Cancel:
		c.Mark = p.marks[booking{c.Key, l.name, st.id}]
	}
	return c
}

// asked returns the limits with the given names, in the order of the names; all
// if there are none.
func (p *player) asked(names []string) []*limit {
	if len(names) == 0 {
		return p.limits
	}
	var asked []*limit
	for _, name := range names {
		i := slices.IndexFunc(p.limits, func(l *limit) bool { return l.name == name })
		asked = append(asked, p.limits[i])
	}
	return asked
}
