package resp

import (
	"context"
	"crypto/sha256"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sample = `{"rules": [
	{"name": "login", "match": {"methods": ["POST"], "paths": ["/login"]}, "key": ["ip"], "limits": ["5/m"]},
	{"name": "tenant", "match": {"attributes": {"kind": "api", "plan": "*"}}, "key": ["attribute:tenant"], "limits": ["3/m"], "missing": "deny"},
	{"name": "agent", "match": {"headers": {"X-Agent": "bot"}, "hosts": ["*.example.com", "example.com"], "paths": ["/all/*"]}, "key": ["header:X-Agent", "user"], "limits": ["2/m"]},
	{"name": "off", "match": {"attributes": {"only": "off"}}, "limits": ["1/m"], "mode": "off"},
	{"name": "exempt", "match": {"attributes": {"only": "exempt"}}, "skip": {"ips": ["10.0.0.0/8"]}, "limits": ["1/m"]},
	{"name": "free", "match": {"attributes": {"kind": "free"}}, "key": ["user"], "limits": ["100000000/s"]}
]}`

// newEngine returns one by the sample rules.
func newEngine(t testing.TB, s store.Store) *engine.Engine {
	t.Helper()
	config, err := rule.ParseJSON([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rule.Compile(config)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// newDoor returns a door over memory, changed by change.
func newDoor(t testing.TB, change func(*Options)) *Door {
	t.Helper()
	memory := memstore.New()
	o := Options{Engine: newEngine(t, memory), Store: memory, Now: time.Now, Version: "v1.2.3"}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// connect opens a connection to the door.
func connect(t testing.TB, d *Door) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	s := newSession(d, server)
	if !d.connections.enter(s, d.options.Connections) {
		t.Fatal("there is no room")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer d.connections.leave(s)
		s.serve()
	}()
	t.Cleanup(func() {
		_ = client.Close()
		<-done
	})
	return client
}

// talk sends input and returns all that is answered until the connection ends.
func talk(t testing.TB, d *Door, input string) string {
	t.Helper()
	conn := connect(t, d)
	go func() { _, _ = io.WriteString(conn, input) }()
	out, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// say is a line of words, and what is answered to it before the connection ends.
func say(t testing.TB, d *Door, line string) string {
	t.Helper()
	return strings.TrimSuffix(talk(t, d, line+"\r\nQUIT\r\n"), "+OK\r\n")
}

func hashed(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// broken is a store that cannot be asked.
type broken struct{ err error }

func (b broken) Take(context.Context, store.Op, []store.Check) error { return b.err }

// exchange sends a request and expects an answer.
func exchange(t testing.TB, conn net.Conn, request, want string) {
	t.Helper()
	go func() { _, _ = io.WriteString(conn, request) }()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("%q is answered %q, %v; want %q", request, got, err, want)
	}
}
