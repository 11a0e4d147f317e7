package gateway

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// witness is a server that remembers what it was asked.
type witness struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen = append(w.seen, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *witness) requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*http.Request(nil), w.seen...)
}

// The forms in which proxies and servers have disagreed about where a request ends, and
// other nonsense. Each says how many requests the gateway may see in it at most.
var corpus = []struct {
	name, text string
	most       int
}{
	{"length and chunks", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 2},
	{"chunks and length", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 100\r\n\r\n0\r\n\r\n", 1},
	{"two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 38\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 0},
	{"list of lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 38\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 0},
	{"plus", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello", 0},
	{"negative", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 0},
	{"hex", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello", 0},
	{"too long a number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nhello", 0},
	{"empty length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 0},
	{"space before the colon", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 0},
	{"unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0},
	{"two codings", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 0},
	{"coding twice", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 0},
	{"tab in the coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 0},
	{"chunks in 1.0", "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 1},
	{"chunk too large a number", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nx\r\n0\r\n\r\n", 1},
	{"chunk with bare LF", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;\n\r\nx\r\n0\r\n\r\n", 1},
	{"chunk without end", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 1},
	{"chunk extension without end", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("a", 100_000) + "\r\nhello\r\n0\r\n\r\n", 1},
	{"trailer that is a field of the head", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", 1},
	{"folded line", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n", 1},
	{"first line folded", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 0},
	{"bare CR", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\rTransfer-Encoding: chunked\r\n\r\n", 0},
	{"NUL", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\x00c\r\n\r\n", 0},
	{"no name", "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 0},
	{"no host", "GET / HTTP/1.1\r\n\r\n", 0},
	{"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 0},
	{"host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 1},
	{"host with spaces", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 0},
	{"another host in the target", "GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n", 1},
	{"a target that is none", "GET x HTTP/1.1\r\nHost: x\r\n\r\n", 0},
	{"unknown version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 0},
	{"no version", "GET /\r\n\r\n", 0},
	{"method with a colon", "GE:T / HTTP/1.1\r\nHost: x\r\n\r\n", 0},
	{"half a preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 1},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 500), 0},
	{"one large field", "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 200_000) + "\r\n\r\n", 0},
	{"many fields", "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X-A: b\r\n", 20_000) + "\r\n", 0},
	{"many names", "GET / HTTP/1.1\r\nHost: x\r\n" + names(20_000) + "\r\n", 0},
	{"pipeline", strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 50), 50},
	{"GET with a body", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 37\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n..", 1},
	{"fields that name others", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Host, X-Forwarded-For, X-Real-Ip, Forwarded, Via\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n", 1},
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "X-%d: b\r\n", i)
	}
	return b.String()
}

// throw sends bytes, says that there will be no more, and waits for the end.
func (p *running) throw(text string) string {
	p.t.Helper()
	c, err := net.Dial("tcp", p.gateway)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(c, text)
	_ = c.(*net.TCPConn).CloseWrite()
	answer, _ := io.ReadAll(c) // a reset is an end too
	return string(answer)
}

// TestHostileRequests: nothing gets past the rules, nobody is named who was not there, and
// each is counted: as a request, or as none.
func TestHostileRequests(t *testing.T) {
	up := newWitness(t)
	g := start(t, section(up.URL))
	for _, c := range corpus {
		before, rejected := g.decisions(), g.metric("sluice_gateway_rejected_total")
		answer := g.throw(c.text)
		eventually(t, c.name+" is counted", func() bool { return g.decisions()+g.metric("sluice_gateway_rejected_total") > before+rejected })
		if counted := g.decisions() - before; counted > float64(c.most) {
			t.Errorf("%s: the rules saw %v requests, at most %d are in it: %.300q", c.name, counted, c.most, answer)
		}
		if c.most == 0 && strings.HasPrefix(answer, "HTTP/1.1 2") {
			t.Errorf("%s: %.300q", c.name, answer)
		}
		if strings.Contains(answer, "500 Internal") {
			t.Errorf("%s: %.300q", c.name, answer)
		}
	}
	g.judge(up)
}

// judge compares what the upstream has seen with what the rules have decided.
func (p *running) judge(up *witness) {
	p.t.Helper()
	seen := up.requests()
	if decided := p.decisions(); float64(len(seen)) > decided {
		p.t.Errorf("the upstream saw %d requests, and the rules %v", len(seen), decided)
	}
	for _, r := range seen {
		if r.Header.Get("X-Forwarded-For") != "127.0.0.1" || r.Header.Get("X-Real-Ip") != "127.0.0.1" || !strings.HasPrefix(r.Header.Get("Forwarded"), "for=127.0.0.1;") {
			p.t.Errorf("%s %s names somebody else: %v", r.Method, r.URL, r.Header)
		}
	}
}

// TestMutatedRequests changes the forms at random.
func TestMutatedRequests(t *testing.T) {
	rounds, seed := 1500, uint64(time.Now().UnixNano())
	if os.Getenv("SLUICE_SOAK") != "" {
		rounds = 20_000
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	up := newWitness(t)
	g := start(t, section(up.URL))
	const bits = "\r\n\t\x00 :;,=/%#?\x7f\xff0aZ"
	for range rounds {
		text := []byte(corpus[random.IntN(len(corpus))].text)
		text = text[:min(len(text), 2000)]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(text))
			switch random.IntN(3) {
			case 0:
				text[at] = bits[random.IntN(len(bits))]
			case 1:
				text = append(text[:at], text[min(len(text), at+1+random.IntN(3)):]...)
			default:
				text = append(text[:at:at], append([]byte{bits[random.IntN(len(bits))]}, text[at:]...)...)
			}
			if len(text) == 0 {
				text = []byte("x")
			}
		}
		if answer := g.throw(string(text)); strings.Contains(answer, "500 Internal") {
			t.Errorf("%q: %q", text, answer)
		}
	}
	g.judge(up)
	if res, err := http.Get("http://" + g.gateway); err != nil || res.StatusCode != 200 {
		t.Errorf("after all: %v %v", res, err)
	} else {
		_ = res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestHTTP2Resets: a stream that is reset at once has been counted, and stays so.
func TestHTTP2Resets(t *testing.T) {
	const streams, limit = 200, 150
	g := start(t, section(newWitness(t).URL)+fmt.Sprintf("\nrules: [{name: all, key: [ip], limits: [%d/h]}]\n", limit))
	var frames [][]byte
	for i := range uint32(streams) {
		frames = append(frames, frame(frameHeaders, endStream|endHeaders, 2*i+1, head("GET", "/", "x")), reset(2*i+1))
	}
	c := g.http2(frames...)
	defer c.Close()
	eventually(t, "all are counted", func() bool { return g.decisions() == streams })
	if denied := g.metric("sluice_decisions_total", "denied") + g.metric("sluice_decisions_total", "deny"); denied != streams-limit {
		t.Errorf("%v were refused, want %d", denied, streams-limit)
	}
	if answer := g.throw("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 429") {
		t.Errorf("the budget came back: %q", answer)
	}
}

// TestHostileHTTP2: what HTTP/2 can say and HTTP/1 cannot never reaches the upstream.
func TestHostileHTTP2(t *testing.T) {
	up := newWitness(t)
	g := start(t, section(up.URL))
	for name, block := range map[string][]byte{
		"line end in a value":     head("GET", "/", "x", "x-a", "b\r\nGET /smuggled HTTP/1.1\r\n"),
		"line end in a name":      head("GET", "/", "x", "x-a\r\nx-b", "c"),
		"line end in the path":    head("GET", "/ HTTP/1.1\r\nX-A: b\r\n", "x"),
		"line end in the host":    head("GET", "/", "x\r\nX-A: b"),
		"line end in the method":  head("GET / HTTP/1.1\r\nX-A: b", "/", "x"),
		"upper case":              head("GET", "/", "x", "X-A", "b"),
		"connection":              head("GET", "/", "x", "connection", "x-forwarded-for"),
		"transfer-encoding":       head("POST", "/", "x", "transfer-encoding", "chunked"),
		"path that is none":       head("GET", "x", "x"),
		"pseudo field at the end": append(head("GET", "/", "x", "x-a", "b"), field(":path", "/smuggled")...),
		"two hosts":               head("GET", "/", "x", "host", "y"),
		"wrong length":            head("POST", "/", "x", "content-length", "5"),
		"colon in a name":         head("GET", "/", "x", "x:a", "b"),
	} {
		before := len(up.requests())
		how := ended(t, g.http2(frame(frameHeaders, endStream|endHeaders, 1, block)), 1)
		for _, r := range up.requests()[before:] {
			if r.URL.Path != "/" || r.Header.Get("X-A") != "" || r.Header.Get("X-B") != "" || r.TransferEncoding != nil {
				t.Errorf("%s (%s): the upstream got %s %s %v", name, how, r.Method, r.URL, r.Header)
			}
		}
	}
	flood := [][]byte{frame(frameHeaders, 0, 1, head("GET", "/", "x"))}
	for i := range 2000 {
		flood = append(flood, frame(frameContinuation, 0, 1, field(fmt.Sprintf("x-%d", i), strings.Repeat("a", 100))))
	}
	if how := ended(t, g.http2(flood...), 1); how == "answer" && len(up.requests()) > 0 && up.requests()[len(up.requests())-1].Header.Get("X-1999") != "" {
		t.Error("a header without end is passed on")
	}
	g.judge(up)
}
