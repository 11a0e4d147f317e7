package api

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// oneCheck is a usual body, oneDecision about what is answered.
const (
	oneCheck    = `{"method":"GET","host":"api.example.com","path":"/api/items/42","ip":"192.0.2.7","user":"ann","headers":{"X-Api-Key":"k-123456"}}`
	oneDecision = `{"allowed":true,"reason":"","rule":"api","limit":"burst","remaining":999999,"retry_after_ms":0,"reset_after_ms":86400000,"wait_ms":0,"shadow":false,"degraded":false}` + "\n"
)

// wide are rules that never refuse, so that all answers look alike.
const wide = `
rules:
  - name: api
    match: {paths: [/api/*]}
    key: [header:X-Api-Key]
    limits: [{name: burst, limit: 1000000000/s}, {name: daily, limit: 1000000000000/d}]
  - name: login
    match: {methods: [POST], paths: [/login]}
    key: [ip]
    limits: [5/m]
`

func batchOf(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.Replace(oneCheck, "k-123456", fmt.Sprintf("k-%d", i), 1)
	}
	return `{"requests":[` + strings.Join(items, ",") + `]}`
}

// noop reads and writes the same bodies as a check, and does nothing else.
func noop(answer string) http.Handler {
	body := []byte(answer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header()["Content-Type"] = typeJSON
		if len(body) > small {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		}
		_, _ = w.Write(body)
	})
}

// BenchmarkServer measures requests over connections that are kept, against a handler
// that does nothing. The load is made by the same process.
func BenchmarkServer(b *testing.B) {
	f := newFake(b, wide, nil)
	for _, size := range []int{1, 100} {
		body, answer := oneCheck, oneDecision
		if size > 1 {
			body = batchOf(size)
			answer = `{"decisions":[` + strings.TrimSuffix(strings.Repeat(oneDecision[:len(oneDecision)-1]+",", size), ",") + "]}\n"
		}
		b.Run(fmt.Sprintf("noop-%d", size), func(b *testing.B) { load(b, noop(answer), body, size) })
		b.Run(fmt.Sprintf("check-%d", size), func(b *testing.B) { load(b, New(f, Options{}), body, size) })
		b.Run(fmt.Sprintf("check-token-%d", size), func(b *testing.B) {
			load(b, New(f, Options{Tokens: [][32]byte{HashToken("secret")}}), body, size)
		})
	}
}

// load sends b.N requests over 16 connections with a client that costs next to nothing.
func load(b *testing.B, h http.Handler, body string, size int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := NewServer(h)
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	head := "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer secret\r\nContent-Length: " +
		fmt.Sprint(len(body)) + "\r\n\r\n"
	const clients = 16
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range clients {
		n := b.N / clients
		if i < b.N%clients {
			n++
		}
		message := []byte(head + strings.ReplaceAll(body, `"k-`, fmt.Sprintf(`"%c-`, 'a'+i))) // each its own keys
		all.Go(func() {
			if err := talk(listener.Addr().String(), message, n); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "decisions/s")
}

// talk sends a message n times and waits for each answer.
func talk(address string, message []byte, n int) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	buffer := make([]byte, 64<<10)
	for range n {
		if _, err := conn.Write(message); err != nil {
			return err
		}
		if err := answerOf(conn, buffer); err != nil {
			return err
		}
	}
	return nil
}

// answerOf reads one answer, which ends with a line break as all of ours do.
func answerOf(conn net.Conn, buffer []byte) error {
	head, body, want := false, 0, 0
	for read := 0; ; {
		n, err := conn.Read(buffer[read:])
		if err != nil {
			return err
		}
		read += n
		if !head {
			end := bytes.Index(buffer[:read], []byte("\r\n\r\n"))
			if end < 0 {
				continue
			}
			if !bytes.HasPrefix(buffer, []byte("HTTP/1.1 200 ")) {
				return fmt.Errorf("answer %.300q", buffer[:read])
			}
			at := bytes.Index(buffer[:end], []byte("Content-Length: "))
			if at < 0 {
				return fmt.Errorf("no length: %.300q", buffer[:read])
			}
			if _, err := fmt.Sscanf(string(buffer[at:at+30]), "Content-Length: %d", &want); err != nil {
				return err
			}
			head, body = true, end+4
		}
		if read-body >= want {
			return nil
		}
	}
}

// nobody is a ResponseWriter that costs nothing.
type nobody struct{ header http.Header }

func (n *nobody) Header() http.Header         { return n.header }
func (n *nobody) Write(b []byte) (int, error) { return len(b), nil }
func (n *nobody) WriteHeader(int)             {}

// BenchmarkHandler is the handler without connections.
func BenchmarkHandler(b *testing.B) {
	f := newFake(b, wide, nil)
	for _, size := range []int{1, 100} {
		body := oneCheck
		if size > 1 {
			body = batchOf(size)
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h, w := New(f, Options{}), &nobody{http.Header{}}
			r, reader := newRequest(body)
			b.ReportAllocs()
			for b.Loop() {
				reader.Reset(body)
				h.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}

// newRequest returns a request whose body can be read again.
func newRequest(body string) (*http.Request, *strings.Reader) {
	reader := strings.NewReader(body)
	r, _ := http.NewRequest(http.MethodPost, "/v1/check", io.NopCloser(reader))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	return r, reader
}

func BenchmarkDecode(b *testing.B) {
	var p parsed
	b.ReportAllocs()
	for b.Loop() {
		p.clear()
		if !p.decode(oneCheck) {
			b.Fatal("not taken")
		}
	}
}
