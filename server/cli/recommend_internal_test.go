package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

// TestUntil: when somebody presses Ctrl-C, nothing more of a log is given out, also if it
// has been read.
func TestUntil(t *testing.T) {
	text := strings.Repeat("192.0.2.1 - - [20/Feb/2016:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n", 100)
	log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{Sort: true})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range until(ctx, log) {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d entries", n)
	}
}
