package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/config"
)

// What net/http does not let through is counted; requests that are answered are not,
// nor connections on which nothing is sent.
func TestBrokenRequestsAreCounted(t *testing.T) {
	r := start(t, config.Sources{})
	fine := r.call()
	fine.ask("/v1/rules", "")
	fine.hears(200)
	fine.ask("/v1/rules", "")
	fine.hears(200)
	_ = fine.Close()
	_ = r.call().Close()
	later := r.call()
	later.ask("/v1/rules", "")
	later.hears(200)
	if _, err := io.WriteString(later, "HELO example.com\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	later.hears(400)
	for sent, status := range map[string]int{
		"HELO example.com\r\n\r\n":                  400,
		"GET / HTTP/1.1\r\n\r\n":                    400, // no host
		"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n": 505,
		"GET / HTTP/1.1\r\nHost: localhost\r\nA":    0, // and leaves
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nA: " + strings.Repeat("a", 64<<10) + "\r\n\r\n": http.StatusRequestHeaderFieldsTooLarge,
	} {
		c := r.call()
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		if status != 0 {
			c.hears(status)
		}
		_ = c.Close()
	}
	const want = "\nsluice_broken_requests_total 6\n"
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		_, text := r.do("GET", "/metrics", "")
		if strings.Contains(text, want) {
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("no %q in\n%s", want, text)
		}
	}
}
