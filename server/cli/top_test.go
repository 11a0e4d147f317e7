package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluice-limiter/sluice/server/cli"
)

// What goes to a file or a pipe has no escape sequences, and a server that does not
// answer for a while is asked again.
func TestTopInAPipe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var polls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/stats" {
			switch polls.Add(1) {
			case 2:
				http.Error(w, "", http.StatusBadGateway)
				return
			case 4:
				cancel()
			}
		}
		_, _ = w.Write([]byte(`{"requests":7}`))
	}))
	defer server.Close()
	var out, errs bytes.Buffer
	code := cli.Run(ctx, cli.Terminal{Args: []string{"top", "--every", "100ms", "--server", server.URL}, Out: &out, Err: &errs})
	if code != 0 || polls.Load() < 4 {
		t.Errorf("exit code %d after %d polls: %s", code, polls.Load(), errs.String())
	}
	text := out.String()
	if strings.Contains(text, "\x1b") || strings.Count(text, "7 requests") < 2 || strings.Count(text, "status 502\ntrying again") != 1 {
		t.Errorf("%q", text)
	}
}
