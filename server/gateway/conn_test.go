package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/gateway"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// keeping is a client that keeps its connection.
type keeping struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

func (r *running) keep() *keeping {
	r.t.Helper()
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	return &keeping{c, r.t, bufio.NewReader(c)}
}

// ask sends a request and returns its answer.
func (k *keeping) ask(text string) (*http.Response, string) {
	k.t.Helper()
	if _, err := io.WriteString(k, text); err != nil {
		k.t.Fatal(err)
	}
	res, err := http.ReadResponse(k.reader, &http.Request{Method: strings.Fields(text)[0]})
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return res, string(body)
}

// Every request over a connection is decided once, whoever answers it: the server, or the
// gateway ahead of it.
func TestEveryRequestIsDecidedOnce(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	defer up.Close()
	g := start(t, single(up.URL)+`
rules:
  - {name: few, match: {paths: [/few]}, key: [ip], limits: [1/d]}
  - {name: many, match: {paths: [/many]}, key: [ip], limits: [100/d]}
`)
	k := g.keep()
	defer k.Close()
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }
	k.ask(get("/few"))
	first, refusal := k.ask(get("/few"))
	if first.StatusCode != 429 {
		t.Fatal(first.Status)
	}
	first.Header.Del("Date")
	for i := range 50 {
		res, body := k.ask(get("/few"))
		res.Header.Del("Date")
		if res.StatusCode != 429 || body != refusal || len(res.Header) != len(first.Header) || res.Header.Get("RateLimit") != first.Header.Get("RateLimit") {
			t.Fatalf("%s %v %q, before: %v %q", res.Status, res.Header, body, first.Header, refusal)
		}
		if res, body := k.ask("HEAD /few HTTP/1.1\r\nHost: x\r\n\r\n"); res.StatusCode != 429 || body != "" || res.ContentLength != int64(len(refusal)) {
			t.Fatalf("%s %q", res.Status, body)
		}
		want := `"many";r=` + strconv.Itoa(99-i*2)
		if res, body := k.ask(get("/many")); res.StatusCode != 200 || body != "/many" || !strings.HasPrefix(res.Header.Get("RateLimit"), want+";") {
			t.Fatalf("%s %v %q, want %s", res.Status, res.Header, body, want)
		}
		k.ask(get("/few"))
		if res, body := k.ask("POST /many HTTP/1.1\r\nHost: x\r\nContent-Length: " + strconv.Itoa(len(get("/few"))) + "\r\n\r\n" + get("/few")); res.StatusCode != 200 || body != get("/few")+"/many" {
			t.Fatalf("%s %q", res.Status, body)
		}
	}
	eventually(t, "all are counted", func() bool { return g.count("sluice_gateway_requests_total") == 2+5*50 })
	if passed := g.count("sluice_gateway_requests_total", "2xx"); passed != 1+2*50 {
		t.Errorf("%v have passed", passed)
	}
}

// What the server rejects before a handler hears of it is counted, with the class of the
// answer that it got.
func TestRejectedRequestsAreCounted(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	const good = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		text, class string
		leaves      bool    // at once
		also        float64 // requests before it
	}{
		"nonsense":              {text: "x\r\n\r\n", class: "4xx"},
		"two hosts":             {text: "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", class: "4xx"},
		"two lengths":           {text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", class: "4xx"},
		"large header":          {text: "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 100_000) + "\r\n\r\n", class: "4xx"},
		"unknown coding":        {text: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n", class: "5xx"},
		"unknown expectation":   {text: "GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n", class: "4xx"},
		"after another":         {text: good + "x\r\n\r\n", class: "4xx", also: 1},
		"two lengths, a second": {text: "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nokx\r\n\r\n", class: "4xx", also: 1},
		"too slow":              {text: good[:20], class: "4xx"},
		"left":                  {text: good[:20], class: "4xx", leaves: true}, // nobody reads the answer
		"nothing at all":        {text: "", leaves: true},
	} {
		g := start(t, "gateway: {timeouts: {header: 50ms}, upstreams: [{name: app, servers: [\""+up.URL+"\"]}]}")
		k := g.keep()
		_, _ = io.WriteString(k, c.text)
		if c.leaves {
			_ = k.Conn.(*net.TCPConn).CloseWrite()
		}
		_, _ = io.Copy(io.Discard, k)
		_ = k.Close()
		if err := g.stop(); err != nil {
			t.Error(err)
		}
		want := 1.0
		if c.class == "" {
			want = 0
		}
		n, all := g.count("sluice_gateway_rejected_total", c.class), g.count("sluice_gateway_rejected_total")
		if handled := g.count("sluice_gateway_requests_total"); all != want || n != want || handled != c.also {
			t.Errorf("%s: %v of class %s, %v in all, and %v requests", name, n, c.class, all, handled)
		}
	}
}

// held is a store whose answers wait, from when it is told to.
type held struct {
	store.Store
	on             atomic.Bool
	inside, letOut chan struct{}
}

func (h *held) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if h.on.Load() {
		h.inside <- struct{}{}
		<-h.letOut
	}
	return h.Store.Take(ctx, op, checks)
}

// A request that is being decided ahead of the server is answered before the gateway ends,
// though its connection is an idle one to the server.
func TestShutdownWaitsForWhatIsDecidedAhead(t *testing.T) {
	h := &held{Store: memstore.New(), inside: make(chan struct{}), letOut: make(chan struct{})}
	text := single("http://127.0.0.1:1") + "\nrules: [{name: one, key: [ip], limits: [1/d]}]\n"
	e, err := engine.New(load(t, text).Rules.Set, h)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	g := start(t, text, func(o *gateway.Options) { o.Engine = e })
	k := g.keep()
	defer k.Close()
	const asks = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, status := range []int{502, 429} {
		if res, _ := k.ask(asks); res.StatusCode != status {
			t.Fatal(res.Status)
		}
	}
	h.on.Store(true)
	ended := make(chan error, 1)
	go func() {
		<-h.inside
		go func() { ended <- g.stop() }()
		select {
		case <-ended:
			t.Error("it has ended")
			ended <- nil
		case <-time.After(50 * time.Millisecond): // if it does not wait, that is enough to end
		}
		close(h.letOut)
	}()
	if res, _ := k.ask(asks); res.StatusCode != 429 {
		t.Error(res.Status)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
