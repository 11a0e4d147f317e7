package accesslog_test

import (
	"bytes"
	"compress/gzip"
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
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func line(second int, path string) string {
	return fmt.Sprintf("192.0.2.1 - - [%s] \"GET %s HTTP/1.1\" 200 1 \"-\" \"x\"\n", epoch.Add(time.Duration(second)*time.Second).Format("02/Jan/2006:15:04:05 -0700"), path)
}

func write(t *testing.T, name, text string) accesslog.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return accesslog.File(path)
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// collect reads a log and returns the paths. Times never go back, and all lines count.
func collect(t *testing.T, log *accesslog.Log) (paths []string) {
	t.Helper()
	last := int64(0)
	for e := range log.Entries(t.Context()) {
		if e.Time < last {
			t.Errorf("%s comes at %v, after %v", e.Path, e.At(), time.UnixMicro(last).UTC())
		}
		last = e.Time
		paths = append(paths, strings.Clone(e.Path))
	}
	if l := log.Lines(); l.Parsed+l.Rejected != l.Total || l.Parsed != int64(len(paths)) {
		t.Errorf("%d entries, %+v", len(paths), l)
	}
	return paths
}

// TestMerge: many files, some packed, each shuffled a little, come out as one log in
// the order of time, however they are named.
func TestMerge(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, files := range []int{1, 2, 4, 12} {
		var sources []accesslog.Source
		var want []string
		for f := range files {
			var lines []string
			for i := range 3000 {
				second := f*1000 + i // each file overlaps with the next two
				lines = append(lines, line(second, fmt.Sprintf("/%06d/%d", second, f)))
				want = append(want, fmt.Sprintf("/%06d/%d", second, f))
			}
			for i := 0; i+50 <= len(lines); i += 50 {
				part := lines[i : i+50]
				r.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
			}
			text := strings.Join(lines, "")
			if f%2 == 1 {
				text = packed(t, text)
			}
			sources = append(sources, write(t, fmt.Sprintf("%d.log", f), text))
		}
		slices.Sort(want)
		r.Shuffle(len(sources), func(a, b int) { sources[a], sources[b] = sources[b], sources[a] })
		log := accesslog.New(sources, accesslog.Options{})
		got := collect(t, log)
		slices.Sort(got) // none is late, so they came in order but for those of one second
		if !slices.Equal(got, want) || log.Err() != nil || log.Lines().Late != 0 {
			t.Errorf("%d files: %d of %d entries, %v, %+v", files, len(got), len(want), log.Err(), log.Lines())
		}
	}
}

// TestPlaces: of a second each line knows its place, in the order of the file.
func TestPlaces(t *testing.T) {
	text := line(1, "/a") + line(2, "/d") + line(1, "/b") + line(1, "/c")
	log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{})
	var got []string
	for e := range log.Entries(t.Context()) {
		got = append(got, fmt.Sprintf("%s %d/%d", e.Path, e.Place, e.Among))
	}
	if want := []string{"/a 0/3", "/b 1/3", "/c 2/3", "/d 0/1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLate: what comes later than the window holds is given out at the time that was
// reached, and counted.
func TestLate(t *testing.T) {
	var text strings.Builder
	const lines = 20_000
	for i := range lines {
		text.WriteString(line(10+i, "/"))
	}
	text.WriteString(line(0, "/late"))
	log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text.String()))}, accesslog.Options{Window: 1})
	paths := collect(t, log)
	l := log.Lines()
	if len(paths) != lines+1 || l.Late != 1 || l.Latest < time.Hour {
		t.Errorf("%d entries, %+v", len(paths), l)
	}
	log = accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text.String()))}, accesslog.Options{})
	if paths = collect(t, log); paths[0] != "/late" || log.Lines().Late != 0 {
		t.Errorf("first is %s, %+v", paths[0], log.Lines())
	}
}

// TestLongLines: a line without end costs no more memory than a block, and is one
// rejected line.
func TestLongLines(t *testing.T) {
	for _, size := range []int{accesslog.MaxLine + 1, 256 << 10, 256<<10 + 1, 3 << 20} {
		for _, end := range []string{"\n" + line(2, "/after"), ""} {
			text := line(1, "/before") + strings.Repeat("x", size) + end
			log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{})
			paths := collect(t, log)
			l := log.Lines()
			if want := 1 + min(len(end), 1); len(paths) != want || l.Rejected != 1 || l.Reasons[0].Reason != accesslog.TooLong || len(l.Reasons[0].Sample) > 1000 {
				t.Errorf("%d bytes: %q, %+v", size, paths, l)
			}
		}
	}
}

// TestBrokenFiles: what can be read is given out, and the error tells the rest.
func TestBrokenFiles(t *testing.T) {
	var many strings.Builder
	for i := range 5000 {
		many.WriteString(line(i, fmt.Sprintf("/%d", rand.Uint64())))
	}
	whole := packed(t, many.String())
	failing := accesslog.Source{Name: "failing", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(line(1, "/")+line(2, "/")), iotestErr{})), nil
	}}
	for _, c := range []struct {
		name   string
		source accesslog.Source
		least  int
		want   string
	}{
		{"cut off", write(t, "cut.gz", whole[:len(whole)/2]), 1000, "unexpected EOF"},
		{"not there", accesslog.File(filepath.Join(t.TempDir(), "none")), 0, "none: no such file"},
		{"zstd", write(t, "x.zst", "\x28\xb5\x2f\xfd..."), 0, "compressed by zstd"},
		{"gzip of nothing", write(t, "x.gz", "\x1f\x8b..."), 0, "open"},
		{"unknown", write(t, "x.log", "what is this\nand this\n"), 0, "none of the known formats"},
		{"failing", failing, 2, "read failing: disk"},
	} {
		log := accesslog.New([]accesslog.Source{c.source, accesslog.Stream("good", strings.NewReader(line(1, "/good")))}, accesslog.Options{})
		paths := collect(t, log)
		if err := log.Err(); err == nil || !strings.Contains(err.Error(), c.want) || len(paths) < c.least+1 || !slices.Contains(paths, "/good") {
			t.Errorf("%s: %d entries, %v", c.name, len(paths), err)
		}
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

// TestStop: nothing goes on after the loop was left or the context ended.
func TestStop(t *testing.T) {
	const lines = 50_000
	text := strings.Repeat(line(1, "/"), lines)
	synctest.Test(t, func(t *testing.T) { // fails if goroutines are left
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{Window: 1000})
		n := 0
		for range log.Entries(ctx) {
			if n++; n == 5000 {
				cancel()
			}
		}
		if l := log.Lines(); n < 5000 || n >= lines || l.Parsed != int64(n) || !errors.Is(log.Err(), context.Canceled) {
			t.Errorf("%d entries, %+v, %v", n, l, log.Err())
		}
		log = accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{})
		for range log.Entries(t.Context()) {
			break
		}
		if log.Err() != nil {
			t.Error(log.Err())
		}
	})
}

// TestProgress: at the end all bytes and lines are counted.
func TestProgress(t *testing.T) {
	text := strings.Repeat(line(1, "/"), 1000)
	s := write(t, "a.log", text)
	log := accesslog.New([]accesslog.Source{s}, accesslog.Options{})
	collect(t, log)
	if p := log.Progress(); p.Bytes != int64(len(text)) || p.Size != int64(len(text)) || p.Lines != 1000 {
		t.Errorf("%+v of %d", p, len(text))
	}
	log = accesslog.New([]accesslog.Source{s, accesslog.Stream("-", strings.NewReader(text))}, accesslog.Options{})
	if p := log.Progress(); p.Size != 0 {
		t.Errorf("of a stream nobody knows the size: %+v", p)
	}
}

// TestLookup: what cannot be is told.
func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"combinde": "unknown format", "": "unknown format", "$status": "no time", "$msec$status": "nothing stands between",
	} {
		if _, err := accesslog.Lookup(name, accesslog.Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range accesslog.Names() {
		if _, err := accesslog.Lookup(name, accesslog.Settings{}); err != nil {
			t.Error(err)
		}
	}
	for _, format := range []string{"json", "csv", "$msec $status"} {
		if _, err := accesslog.Lookup(format, accesslog.Settings{Fields: map[string]string{"adress": "x"}}); err == nil || !strings.Contains(err.Error(), `cannot mean "adress"`) {
			t.Errorf("%s: %v", format, err)
		}
		if _, err := accesslog.Lookup(format, accesslog.Settings{Fields: map[string]string{"ip": "x", "user": "x"}}); err == nil || !strings.Contains(err.Error(), `both ip and user`) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
