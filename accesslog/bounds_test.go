package accesslog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

// TestQuietInput: an input on which nothing comes holds nobody up when the context ends.
// What came before is given out if the same Ctrl-C ended the program that wrote it.
func TestQuietInput(t *testing.T) {
	for closes, want := range map[bool]int{false: 0, true: 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, out := io.Pipe()
			go func() {
				_, _ = io.WriteString(out, line(1, "/a")+line(2, "/b"))
				time.Sleep(time.Hour)
				cancel()
				if closes {
					_ = out.Close()
				}
			}()
			start, n := time.Now(), 0
			log := accesslog.New([]accesslog.Source{accesslog.Stream("-", in)}, accesslog.Options{})
			for range log.Entries(ctx) {
				n++
			}
			if took := time.Since(start); n != want || took > time.Hour+time.Second || !errors.Is(log.Err(), context.Canceled) || log.Lines().Total != int64(want) {
				t.Errorf("closed %v: %d entries after %v, %v", closes, n, took, log.Err())
			}
			_ = in.Close() // a real input cannot be closed so: its reader ends with the process
		})
	}
}

// TestEndlessLine: nor does a line without end.
func TestEndlessLine(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	endless := &source{piece: strings.Repeat("x", 64<<10), after: func(read int64) {
		if read > 4<<20 {
			cancel()
		}
	}}
	log := accesslog.New([]accesslog.Source{{Name: "endless", Again: true, Open: endless.open}}, accesslog.Options{})
	for range log.Entries(ctx) {
		t.Error("an entry")
	}
	if l := log.Lines(); l.Total != 1 || l.Rejected != 1 {
		t.Errorf("%+v", l)
	}
}

// TestHeldBytes: few good lines among many that are rejected, or very long ones, are not
// held until the window has its number of lines: that would be all of the file.
func TestHeldBytes(t *testing.T) {
	combined, err := accesslog.Lookup("combined", accesslog.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for name, piece := range map[string]string{
		"rejected": line(1, "/") + strings.Repeat(strings.Repeat("x", 99)+"\n", 5000),
		"long":     line(1, "/"+strings.Repeat("x", 60_000)),
	} {
		in := &source{piece: piece}
		log := accesslog.New([]accesslog.Source{{Name: name, Open: in.open}}, accesslog.Options{Window: 8192, Format: combined})
		for range log.Entries(t.Context()) {
			break
		}
		if read := in.read.Load(); read > 64<<20 {
			t.Errorf("%s: %d bytes were read before the first entry", name, read)
		}
	}
}

// source is a file that repeats a piece without end.
type source struct {
	piece string
	rest  string
	read  atomic.Int64
	after func(read int64)
}

func (s *source) open() (io.ReadCloser, error) { return io.NopCloser(s), nil }

func (s *source) Read(p []byte) (int, error) {
	if s.rest == "" {
		s.rest = s.piece
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	if read := s.read.Add(int64(n)); s.after != nil {
		s.after(read)
	} else if read > 256<<20 {
		return n, io.EOF
	}
	return n, nil
}

// TestEmptyFiles: files with nothing in them are no failure, and hide no progress.
func TestEmptyFiles(t *testing.T) {
	log := accesslog.New([]accesslog.Source{write(t, "a.log", ""), write(t, "b.log", "\n \n"), write(t, "c.log", line(1, "/"))}, accesslog.Options{})
	if p := log.Progress(); p.Size == 0 {
		t.Errorf("%+v", p)
	}
	paths := collect(t, log)
	if l := log.Lines(); len(paths) != 1 || log.Err() != nil || l.Rejected != 2 || !slices.Equal(l.Formats, []string{"combined"}) {
		t.Errorf("%q, %v, %+v", paths, log.Err(), l)
	}
}

// TestMergeBackwards: of many files also those are merged in order that begin with their
// latest lines.
func TestMergeBackwards(t *testing.T) {
	const files, lines = 6, 4000 // of more than a block each
	var sources []accesslog.Source
	for f := range files {
		var text strings.Builder
		for i := range lines {
			text.WriteString(line(f*lines/2+lines-i, fmt.Sprintf("/%0100d", i)))
		}
		sources = append(sources, write(t, fmt.Sprintf("%d.log", f), text.String()))
	}
	log := accesslog.New(sources, accesslog.Options{})
	if paths := collect(t, log); len(paths) != files*lines || log.Lines().Late > 0 {
		t.Errorf("%d entries, %+v", len(paths), log.Lines())
	}
}
