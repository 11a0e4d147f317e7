package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/gateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a gateway in a test.
type running struct {
	*gateway.Gateway
	t       *testing.T
	engine  *engine.Engine
	metrics *prometheus.Registry
	address string
	url     string
	client  *http.Client
	stop    func() error // ends it once
}

// load reads the text of a rule file. UPSTREAM stands for the address of a server.
func load(t *testing.T, text string) *config.Loaded {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if !strings.Contains(text, "rules:") {
		text += "\nrules: []\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Sources{Path: file}.Load()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// start runs a gateway until the test ends.
func start(t *testing.T, text string, change ...func(*gateway.Options)) *running {
	t.Helper()
	l := load(t, text)
	e, err := engine.New(l.Rules.Set, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, engine: e, metrics: prometheus.NewRegistry()}
	o := gateway.Options{Engine: e, Metrics: gateway.NewMetrics(r.metrics), Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&o)
	}
	if r.Gateway, err = gateway.New(l.Gateway, o); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	r.url = "http://" + r.address
	r.client = &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	served := make(chan error, 1)
	go func() { served <- r.Serve(listener) }()
	r.stop = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := r.Shutdown(ctx)
		if s := <-served; s != http.ErrServerClosed {
			t.Errorf("Serve: %v", s)
		}
		return err
	})
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		_ = e.Close()
	})
	return r
}

// single is the section for one server.
func single(upstream string, more ...string) string {
	return fmt.Sprintf("gateway: {upstreams: [{name: app, servers: [%q]%s}]}", upstream, strings.Join(append([]string{""}, more...), ", "))
}

// do sends a request and returns the answer with its body.
func (r *running) do(request *http.Request) (*http.Response, string) {
	r.t.Helper()
	res, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(text)
}

func (r *running) get(path string) (*http.Response, string) {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.do(request)
}

// send opens a connection and sends bytes over it as they are.
func (r *running) send(text string) net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// raw sends bytes over a connection of its own and returns all that comes back. The last
// request has to ask for the connection to be closed.
func (r *running) raw(text string) string {
	r.t.Helper()
	answer, err := io.ReadAll(r.send(text))
	if err != nil {
		r.t.Fatalf("%v after %q", err, answer)
	}
	return string(answer)
}

// count returns the sum of a metric over all labels that contain these texts.
func (r *running) count(name string, labels ...string) float64 {
	r.t.Helper()
	families, err := r.metrics.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	var sum float64
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			text := m.String()
			matches := true
			for _, l := range labels {
				matches = matches && strings.Contains(text, `"`+l+`"`)
			}
			if matches {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// scripted is a server that says just what it is told, whatever it is asked.
type scripted struct {
	net.Listener
	url  string
	mu   sync.Mutex
	seen []string // heads of requests
	over sync.WaitGroup
}

// script runs a server that gives answer number n to connection and request n, and closes
// the connection after an answer that is empty or ends with "CLOSE".
func script(t *testing.T, answers ...string) *scripted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{Listener: l, url: "http://" + l.Addr().String()}
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	s.over.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.over.Go(func() { s.talk(c, next) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); s.over.Wait() })
	return s
}

func (s *scripted) talk(c net.Conn, next <-chan string) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	for reader := bufio.NewReader(c); ; {
		var head bytes.Buffer
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
			if line == "\r\n" {
				break
			}
		}
		s.mu.Lock()
		s.seen = append(s.seen, head.String())
		s.mu.Unlock()
		select {
		case a := <-next:
			text, closes := strings.CutSuffix(a, "CLOSE")
			_, _ = io.WriteString(c, text)
			if closes || text == "" {
				return
			}
		default:
			return
		}
	}
}

func (s *scripted) heads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}
