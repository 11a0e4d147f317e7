package audit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/audit"
)

func open(t *testing.T, path string) *audit.Log {
	t.Helper()
	l, err := audit.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLogKeepsTheLast(t *testing.T) {
	l := open(t, "")
	if got := l.Last(10); len(got) != 0 {
		t.Fatalf("an empty log tells %v", got)
	}
	for i := range audit.Size + 5 {
		l.Add(audit.Entry{Hash: strconv.Itoa(i)})
	}
	last := l.Last(3)
	if len(last) != 3 || last[0].Hash != "1004" || last[2].Hash != "1002" {
		t.Errorf("last 3: %v", last)
	}
	all := l.Last(0)
	if len(all) != audit.Size || all[audit.Size-1].Hash != "5" {
		t.Errorf("%d entries, the oldest is %v", len(all), all[len(all)-1])
	}
}

func TestLogWritesLinesOfJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	want := audit.Entry{Time: time.Unix(1, 0).UTC(), Source: "api", Action: "reload", Lines: []string{"rule a: limit 1/s → 2/s\n"}, Hash: "x"}
	open(t, path).Add(want)
	l := open(t, path) // again: nothing is lost
	l.Add(want)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.Add(want) // rotated away: a new file
	for file, lines := range map[string]int{path + ".1": 2, path: 1} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); n++ {
			var got audit.Entry
			if err := json.Unmarshal(s.Bytes(), &got); err != nil || got.Hash != "x" || !got.Time.Equal(want.Time) {
				t.Errorf("%s: line %q: %v", file, s.Text(), err)
			}
		}
		if n != lines {
			t.Errorf("%s has %d lines, want %d", file, n, lines)
		}
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v", file, info.Mode())
		}
	}
}

func TestLogRefusesAFileThatCannotBeWritten(t *testing.T) {
	_, err := audit.Open(filepath.Join(t.TempDir(), "no", "such", "folder"), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "audit file") {
		t.Errorf("err = %v", err)
	}
}

func TestLogReportsAFileThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	l, err := audit.Open(filepath.Join(dir, "a"), slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.Add(audit.Entry{Hash: "x"})
	if !strings.Contains(out.String(), "could not be written") || len(l.Last(1)) != 1 {
		t.Errorf("log %q, %d entries", out.String(), len(l.Last(1)))
	}
}

func TestSubscribersNeverBlock(t *testing.T) {
	l := open(t, "")
	slow, _ := l.Subscribe()
	c, leave := l.Subscribe()
	l.Add(audit.Entry{Hash: "first"})
	if e := <-c; e.Hash != "first" {
		t.Errorf("got %v", e)
	}
	leave()
	leave() // twice does nothing
	if _, open := <-c; open {
		t.Error("the channel is open after leaving")
	}
	for range 10_000 { // nobody reads slow
		l.Add(audit.Entry{})
	}
	l.Close()
	n := 0
	for range slow {
		n++
	}
	if n == 0 || n > 100 {
		t.Errorf("a slow subscriber got %d entries", n)
	}
	late, leave := l.Subscribe()
	defer leave()
	if _, open := <-late; open {
		t.Error("a subscription after Close is open")
	}
}

func TestConcurrentSafe(t *testing.T) {
	l := open(t, "")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				c, leave := l.Subscribe()
				l.Add(audit.Entry{Lines: []string{"x"}})
				<-c
				l.Last(5)
				leave()
			}
		})
	}
	wg.Wait()
	l.Close()
}
