package accesslog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluice-limiter/sluice/accesslog"
)

// backwards is a log whose last request comes first, in lines of about 2 KB.
func backwards(lines int) string {
	var text strings.Builder
	filler := strings.Repeat("x", 2000)
	for i := range lines {
		text.WriteString(line(lines-i, fmt.Sprintf("/%06d/%s", lines-i, filler)))
	}
	return text.String()
}

// TestSort: a log that stands in no order at all comes out in that of time, through so many
// temporary files that some of them are merged before the others; those of one second stay
// as they stand in the files.
func TestSort(t *testing.T) {
	defer accesslog.SetFanIn(accesslog.SetFanIn(3))
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const lines = 1200 // in more than 16 blocks
	var sources []accesslog.Source
	var want []string
	for f := range 2 {
		var text strings.Builder
		for _, second := range r.Perm(lines) {
			for half := range 2 {
				text.WriteString(line(second, fmt.Sprintf("/%06d/%d/%d/%s", second, f, half, strings.Repeat("x", 1000))))
			}
		}
		for second := range lines {
			want = append(want, fmt.Sprintf("/%06d/%d/0", second, f), fmt.Sprintf("/%06d/%d/1", second, f))
		}
		sources = append(sources, write(t, fmt.Sprintf("%d.log", f), text.String()+"no line\n"))
	}
	slices.Sort(want)
	log := accesslog.New(sources, accesslog.Options{Window: 100, Sort: true})
	got := collect(t, log)
	for i := range got {
		got[i] = got[i][:len("/000000/0/0")]
	}
	if l := log.Lines(); !slices.Equal(got, want) || log.Err() != nil || l.Late != 0 || l.Rejected != 2 || !slices.Equal(l.Formats, []string{"combined"}) {
		t.Errorf("%d of %d entries, %v, %+v", len(got), len(want), log.Err(), l)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSortIsWindow: whatever a log tells of requests comes out of temporary files as it
// comes out of a window that holds all of it: fields, places in a second, counts.
func TestSortIsWindow(t *testing.T) {
	for _, name := range []string{"combined", "mixed", "one second"} {
		text := plainLog(t, "semicomplete-2015")
		switch name {
		case "one second":
			text = strings.Repeat(line(1, "/"), 6)
		case "mixed":
			text = ""
			for _, c := range lineTests {
				if strings.HasPrefix(c.line, "{") {
					text += c.line + "\n"
				}
			}
		}
		all := func(o accesslog.Options) (list []string, l accesslog.Lines) {
			log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, o)
			for e := range log.Entries(t.Context()) {
				list = append(list, fmt.Sprint(show(e), e.Place, e.Among))
			}
			return list, log.Lines()
		}
		want, lines := all(accesslog.Options{})
		got, sorted := all(accesslog.Options{Sort: true, Window: 2000})
		if !slices.Equal(got, want) || len(got) == 0 || fmt.Sprint(sorted) != fmt.Sprint(lines) {
			t.Errorf("%s: %d entries, want %d; %+v, want %+v", name, len(got), len(want), sorted, lines)
		}
	}
}

// TestStrict: a log that is further out of order than its window is told at the first
// line that shows it, one that is not is read to its end.
func TestStrict(t *testing.T) {
	text := backwards(2000)
	for window, want := range map[int]error{100: accesslog.ErrLate, 4000: nil} {
		log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{Window: window, Strict: true})
		n := 0
		for range log.Entries(t.Context()) {
			n++
		}
		if !errors.Is(log.Err(), want) || want == nil && (n != 2000 || log.Err() != nil) || want != nil && n == 2000 {
			t.Errorf("window of %d: %d entries, %v", window, n, log.Err())
		}
	}
}

// TestSortWithoutRoom: entries for which there is no temporary file are rejected with the
// reason, and the error says what to do.
func TestSortWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(backwards(2000)))}, accesslog.Options{Window: 100, Sort: true})
	paths := collect(t, log)
	l := log.Lines()
	if len(paths) != 0 || l.Total == 0 || l.Reasons[0].Reason != accesslog.Unsorted || log.Err() == nil || !strings.Contains(log.Err().Error(), "set TMPDIR") {
		t.Errorf("%d entries, %v, %+v", len(paths), log.Err(), l)
	}
}

// TestSortInterrupted: what was read when the context ends is given out in order, all of
// it, and nobody is left at work.
func TestSortInterrupted(t *testing.T) {
	text := backwards(6000)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in := strings.NewReader(text)
		stopping := accesslog.Source{Name: "log", Again: true, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.TeeReader(in, &after{4 << 20, cancel})), nil
		}}
		log := accesslog.New([]accesslog.Source{stopping}, accesslog.Options{Window: 100, Sort: true})
		n, last := int64(0), int64(0)
		for e := range log.Entries(ctx) {
			if n++; e.Time < last {
				t.Fatalf("%v after %d", e.At(), last)
			}
			last = e.Time
		}
		if l := log.Lines(); n == 0 || n == 6000 || l.Parsed != n || l.Late != 0 || !errors.Is(log.Err(), context.Canceled) {
			t.Errorf("%d entries, %+v, %v", n, l, log.Err())
		}
		log = accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{Window: 100, Sort: true})
		for range log.Entries(t.Context()) {
			break // the readers of temporary files end too
		}
		if log.Err() != nil {
			t.Error(log.Err())
		}
	})
}

// after calls a function when so many bytes were written.
type after struct {
	left int
	call func()
}

func (a *after) Write(p []byte) (int, error) {
	if a.left -= len(p); a.left < 0 {
		a.call()
	}
	return len(p), nil
}
