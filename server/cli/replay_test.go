package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/cli"
)

const testLogs = "../../accesslog/testdata/"

// command runs sluice, and returns what it prints and its exit code.
func command(ctx context.Context, in io.Reader, args ...string) (out, complaint string, code int) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(ctx, cli.Terminal{Args: args, In: in, Out: &stdout, Err: &stderr})
	return stdout.String(), stderr.String(), code
}

// TestReplayZstd: also from the standard input.
func TestReplayZstd(t *testing.T) {
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	line := `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.1" 200 1 "-" "x"` + "\n"
	if _, err := io.WriteString(z, strings.Repeat(line, 5)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.zst")
	if err := os.WriteFile(name, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, complaint, code := command(t.Context(), &packed, "replay", "--limit", "4/m", "--json", name, "-")
	var r replay.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Lines.Total != 10 || r.Denied != 6 {
		t.Errorf("%v %d %s: %+v", err, code, complaint, r)
	}
}

// TestReplayInterrupted: what was read so far is reported.
func TestReplayInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	line := `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.1" 200 1 "-" "x"` + "\n"
	in := &endless{line: strings.Repeat(line, 1000), stop: func(n int) {
		if n == 200 {
			cancel()
		}
	}}
	out, complaint, code := command(ctx, in, "replay", "--limit", "4/m", "--window", "10", "-")
	if code != 0 || !strings.Contains(out, "Interrupted") || !strings.Contains(out, "rule replay") {
		t.Errorf("%d %s\n%s", code, complaint, out)
	}
}

// endless is a log without end.
type endless struct {
	line string
	rest string
	n    int
	stop func(n int)
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		e.rest = e.line
		e.n++
		e.stop(e.n)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestReplaySend: requests come in the order and about at the distances of the log, and
// what the target says is compared with what was predicted.
func TestReplaySend(t *testing.T) {
	var came atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := came.Add(1)
		if r.Header.Get("X-Forwarded-For") != "192.0.2.1" || r.Header.Get("User-Agent") != "x" || r.Method != "GET" {
			t.Errorf("%v", r.Header)
		}
		if n > 3 { // as a limit of three does
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer target.Close()
	var log strings.Builder
	for i := range 6 {
		fmt.Fprintf(&log, "192.0.2.1 - - [20/Feb/2016:00:00:%02d +0000] \"GET /%d HTTP/1.1\" 200 1 \"-\" \"x\"\n", 40+i, i)
	}
	start := time.Now()
	out, complaint, code := command(t.Context(), strings.NewReader(log.String()), "replay", "--limit", "2/h burst=3", "--json", "--send", target.URL, "--speed", "20", "-")
	var r replay.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Live == nil {
		t.Fatal(err, code, complaint)
	}
	if l := r.Live; l.Sent != 6 || l.Allowed != 3 || l.Denied != 3 || l.Equal != 6 || l.Predicted != 3 || l.Failed != 0 || came.Load() != 6 {
		t.Errorf("%+v", l)
	}
	if took := time.Since(start); took < 250*time.Millisecond { // five seconds, twenty times as fast
		t.Errorf("all were sent within %v", took)
	}
	out, complaint, code = command(t.Context(), strings.NewReader(log.String()), "replay", "--limit", "2/h", "--json", "--send", target.URL, "--speed", "1000", "--send-most", "2", "-")
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Live.Sent != 2 || r.Live.OnlyLive != 2 {
		t.Errorf("%v %d %s %+v", err, code, complaint, r.Live)
	}
}

// TestReplaySendNobody: a target that answers nothing is told, after the report.
func TestReplaySendNobody(t *testing.T) {
	target := httptest.NewServer(http.NotFoundHandler())
	target.Close()
	line := `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.1" 200 1 "-" "x"` + "\n"
	out, complaint, code := command(t.Context(), strings.NewReader(line), "replay", "--limit", "1/s", "--send", target.URL, "-")
	if code != 1 || !strings.Contains(complaint, "no request was answered") || !strings.Contains(out, "1 failed") {
		t.Errorf("%d %s\n%s", code, complaint, out)
	}
}

// TestReplaySendHeaders: the target gets what keys are made of, as far as the log tells.
func TestReplaySendHeaders(t *testing.T) {
	const log = `{"at":1455926445,"client":"192.0.2.1","path":"/x","api_key":"k1","session":"s1","forwarded":"203.0.113.9","agent":"x"}` + "\n"
	var got api.Request
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/check" {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			return
		}
		h := r.Header
		if h.Get("X-Api-Key") != "k1" || h.Get("Cookie") != "sid=s1" || h.Get("X-Forwarded-For") != "192.0.2.1" || h.Get("User-Agent") != "x" {
			t.Errorf("%v", h)
		}
	}))
	defer target.Close()
	for _, path := range []string{"", "/v1/check"} {
		_, complaint, code := command(t.Context(), strings.NewReader(log), "replay", "--limit", "1/s", "--format", "json", "--send", target.URL+path,
			"--field", "time=at", "--field", "header:X-Api-Key=api_key", "--field", "cookie:sid=session", "--field", "header:X-Forwarded-For=forwarded", "--field", "attribute:plan=path", "-")
		if code != 0 {
			t.Error(code, complaint)
		}
	}
	if got.Headers["X-Api-Key"] != "k1" || got.Headers["Cookie"] != "sid=s1" || got.Attributes["plan"] != "/x" || got.IP != "192.0.2.1" || got.Headers["User-Agent"] != "x" {
		t.Errorf("%+v", got)
	}
}

// TestReplaySendInterrupted: requests that nobody waits for any more are no failures of
// the target, and none is predicted that was not sent.
func TestReplaySendInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer target.Close()
	var log strings.Builder
	for i := range 50 {
		fmt.Fprintf(&log, "192.0.2.1 - - [20/Feb/2016:00:00:%02d +0000] \"GET /%d HTTP/1.1\" 200 1 \"-\" \"x\"\n", i, i)
	}
	secret := strings.Replace(target.URL, "http://", "http://ann:secret@", 1)
	out, complaint, code := command(ctx, strings.NewReader(log.String()), "replay", "--limit", "1/h", "--json", "--send", secret, "-")
	var r replay.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Live == nil {
		t.Fatal(err, code, complaint)
	}
	if r.Live.Failed != 0 || r.Live.Error != "" || !r.Interrupted || r.Requests > 3 || strings.Contains(out, "secret") {
		t.Errorf("%d requests, %+v", r.Requests, r.Live)
	}
}

// TestReplayMisuse: what cannot be is told before a log is read, and a report that was
// made is printed whatever becomes of its file.
func TestReplayMisuse(t *testing.T) {
	line := `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.1" 200 1 "-" "x"` + "\n"
	for _, c := range []struct {
		in, want, prints string
		args             []string
	}{
		{line, `cannot mean "foo"`, "", []string{"--field", "foo=x"}},
		{line, "--html: open", "1 lines: 1 parsed", []string{"--html", filepath.Join(t.TempDir(), "none", "x.html")}},
		{line, `"x" cannot mean both`, "", []string{"--field", "ip=x", "--field", "user=x"}},
		{"", "the log is empty", "0 lines", nil},
	} {
		out, complaint, code := command(t.Context(), strings.NewReader(c.in), append([]string{"replay", "--limit", "1/m", "-"}, c.args...)...)
		if code == 0 || !strings.Contains(complaint, c.want) || !strings.Contains(out, c.prints) || c.prints == "" && out != "" {
			t.Errorf("%q: %d %s\n%s", c.args, code, complaint, out)
		}
	}
}
