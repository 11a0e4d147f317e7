package proxytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// App is the application behind the proxy. It answers with what it was asked.
type App struct {
	Addr string

	mu   sync.Mutex
	seen []string // methods and targets
}

// NewApp starts an application.
func NewApp(t testing.TB) *App {
	t.Helper()
	a := &App{}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.Addr = strings.TrimPrefix(server.URL, "http://")
	return a
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.seen = append(a.seen, r.Method+" "+r.RequestURI)
	a.mu.Unlock()
	switch {
	case r.Header.Get("Upgrade") != "":
		upgrade(w)
	case strings.HasPrefix(r.URL.Path, "/forbidden"):
		http.Error(w, "the application says no", http.StatusForbidden)
	default:
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s, body %d", r.Method, r.RequestURI, n)
	}
}

// upgrade switches to a protocol that sends back what it gets.
func upgrade(w http.ResponseWriter) {
	c, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprint(both, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	_ = both.Flush()
	_, _ = io.Copy(c, both)
}

// Seen returns how many requests have come whose method and target begin so.
func (a *App) Seen(prefix string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.seen {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// Auth stands in for sluice: it lets everything pass and keeps what it was asked.
type Auth struct {
	Addr string

	mu    sync.Mutex
	asked []Asked
}

// Asked is one question of a proxy.
type Asked struct {
	Method string
	Header http.Header
	Body   int64 // bytes
}

// NewAuth starts one.
func NewAuth(t testing.TB) *Auth {
	t.Helper()
	a := &Auth{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = append(a.asked, Asked{r.Method, r.Header, n})
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	a.Addr = strings.TrimPrefix(server.URL, "http://")
	return a
}

// Last returns the last question, and how many there were.
func (a *Auth) Last() (last Asked, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n = len(a.asked); n > 0 {
		last = a.asked[n-1]
	}
	return last, n
}
