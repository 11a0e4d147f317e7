package accesslog_test

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

// plainLog returns a real log, unpacked.
func plainLog(t testing.TB, name string) string {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func BenchmarkCombined(b *testing.B) {
	text := plainLog(b, "wordpress-2016")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	f, err := accesslog.Lookup("combined", accesslog.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	p := f.Parser()
	var e accesslog.Entry
	b.ReportAllocs()
	b.SetBytes(int64(len(text) / len(lines)))
	for i := 0; b.Loop(); i++ {
		if r := p.Parse(lines[i%len(lines)], &e); r != "" {
			b.Fatal(r)
		}
	}
}

// BenchmarkLog reads a whole log, sorted.
func BenchmarkLog(b *testing.B) {
	text := plainLog(b, "wordpress-2016")
	lines := strings.Count(text, "\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{})
		n := 0
		for range log.Entries(b.Context()) {
			n++
		}
		if n != lines {
			b.Fatal(n, lines)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
}
