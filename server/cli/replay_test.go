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
	"github.com/sluice-limiter/sluice/server/cli"
)

const testLogs = "../../accesslog/testdata/"

// command runs sluice, and returns what it prints and its exit code.
func command(ctx context.Context, in io.Reader, args ...string) (out, complaint string, code int) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(ctx, cli.Terminal{Args: args, In: in, Out: &stdout, Err: &stderr})
	return stdout.String(), stderr.String(), code
}

// TestReplayGolden: the figures of two real logs, from the command line, to the request.
func TestReplayGolden(t *testing.T) {
	for _, c := range []struct {
		log                                string
		perMinute                          int
		requests, keys, denied, keysDenied int64
	}{
		{"wordpress-2016", 10, 206_860, 8799, 35_410, 1402},
		{"wordpress-2016", 30, 206_860, 8799, 7764, 293},
		{"wordpress-2016", 60, 206_860, 8799, 1758, 35},
		{"wordpress-2016", 120, 206_860, 8799, 381, 8},
		{"semicomplete-2015", 10, 10_000, 1753, 1729, 79},
		{"semicomplete-2015", 30, 10_000, 1753, 456, 31},
		{"semicomplete-2015", 60, 10_000, 1753, 87, 2},
		{"semicomplete-2015", 120, 10_000, 1753, 0, 0},
	} {
		out, complaint, code := command(t.Context(), nil, "replay", "--key", "ip", "--limit", fmt.Sprintf("%d/m", c.perMinute), "--algorithm", "sliding_log", "--sample", "0", "--json", testLogs+c.log+".log.gz")
		var r replay.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || complaint != "" {
			t.Fatal(err, code, complaint)
		}
		got := r.Rules[0]
		if l := r.Lines; l.Total != c.requests || l.Parsed != c.requests || l.Rejected != 0 || l.Late != 0 {
			t.Errorf("%s: %+v", c.log, l)
		}
		if got.Requests != c.requests || got.Keys != c.keys || got.Denied != c.denied || got.KeysDenied != c.keysDenied {
			t.Errorf("%s at %d/m: %d requests of %d keys, %d denied of %d keys, want %+v", c.log, c.perMinute, got.Requests, got.Keys, got.Denied, got.KeysDenied, c)
		}
		if c.keysDenied == 35 && (got.Suspects.Keys != 15 || got.Suspects.Requests != 580) {
			t.Errorf("candidates for false kills: %+v", got.Suspects)
		}
	}
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
