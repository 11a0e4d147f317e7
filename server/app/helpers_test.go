package app_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a server in a test.
type running struct {
	*app.App
	t    *testing.T
	log  *buffer
	url  string
	http *http.Client
	stop func() error // ends it once, and tells how it went
}

// buffer is a log that tests can read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs a server on a free port until the test ends.
func start(t *testing.T, s config.Sources) *running {
	t.Helper()
	r, err := open(t, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- r.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-result
	})
	t.Cleanup(func() {
		r.http.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

// open makes a server and does not run it.
func open(t *testing.T, s config.Sources) (*running, error) {
	t.Helper()
	if s.Flags["listen"] == "" {
		flags := map[string]string{"listen": "127.0.0.1:0"}
		for name, value := range s.Flags {
			flags[name] = value
		}
		s.Flags = flags
	}
	loaded, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, log: &buffer{}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	r.App, err = app.New(context.Background(), s, loaded, app.NewLogger(r.log, config.Log{Format: "text", Level: slog.LevelDebug.String()}))
	if err == nil {
		r.url = "http://" + r.Addr().String()
	}
	return r, err
}

// file is a rule file that can be replaced.
type file struct {
	t    *testing.T
	path string
}

func newFile(t *testing.T, text string) *file {
	t.Helper()
	f := &file{t, filepath.Join(t.TempDir(), "rules.yaml")}
	f.write(text)
	return f
}

// write replaces the contents at once.
func (f *file) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path+".new", []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path+".new", f.path); err != nil {
		f.t.Fatal(err)
	}
}

// do sends a request and returns status and body.
func (r *running) do(method, path, body string, header ...string) (*http.Response, string) {
	r.t.Helper()
	request, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := r.http.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response, string(data)
}

// metric returns the line of a metric, "" if there is none.
func (r *running) metric(name string) string {
	r.t.Helper()
	_, text := r.do("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") || strings.HasPrefix(line, name+"{") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if so() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}
