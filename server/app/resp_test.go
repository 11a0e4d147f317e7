package app_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

const respRules = `
rules:
  - {name: login, match: {paths: [/login]}, key: [user], limits: [5/h]}
`

// dial opens a connection for Redis clients.
func (r *running) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.DoorAddr("resp").String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// tell sends lines and reads as much as the answer should be.
func tell(t *testing.T, conn net.Conn, lines, want string) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, lines); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("%q is answered %q, %v; want %q", lines, got[:n], err, want)
	}
}

const fourLeft = "*20\r\n$7\r\nallowed\r\n:1\r\n$9\r\nremaining\r\n:4\r\n"

// TestRESPSharesBudgets: a rule has the same budget at every door, and CL.THROTTLE one of
// its own. The time of decisions is told by door.
func TestRESPSharesBudgets(t *testing.T) {
	r := start(t, config.Sources{Path: newFile(t, respRules).path, Flags: map[string]string{"resp.listen": "127.0.0.1:0"}})
	tell(t, r.dial(), "SLUICE.CHECK login user=ann COST 4\r\n", "*20\r\n$7\r\nallowed\r\n:1\r\n$9\r\nremaining\r\n:1\r\n")
	if _, body := r.do("POST", "/v1/check", `{"path":"/login","user":"ann"}`); !strings.Contains(body, `"remaining":0`) {
		t.Error(body)
	}
	tell(t, r.dial(), "CL.THROTTLE login|ann 4 5 3600\r\n", "*5\r\n:0\r\n:5\r\n:4\r\n:-1\r\n:720\r\n")
	eventually(t, "both are counted", func() bool {
		return strings.HasSuffix(r.metric(`sluice_decision_duration_seconds_count{door="resp"}`), " 2")
	})
}

// TestRESPSheds: what is in flight counts at all doors together.
func TestRESPSheds(t *testing.T) {
	r := start(t, config.Sources{Path: newFile(t, respRules).path, Flags: map[string]string{"resp.listen": "127.0.0.1:0", "limits.in_flight": "1"}})
	conn, leave := r.dial(), r.Occupy(1)
	tell(t, conn, "CL.THROTTLE k 0 1 100\r\n", "-BUSY this server has more requests than it takes")
	leave()
	conn = r.dial()
	tell(t, conn, "CL.THROTTLE k 0 1 100\r\n", "*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:100\r\n")
	if got := r.metric("sluice_shed_requests_total"); !strings.HasSuffix(got, " 1") {
		t.Error(got)
	}
}

// TestRESPTokens: the tokens of the API hold here, and change with them. With a
// certificate, connections are encrypted.
func TestRESPTokens(t *testing.T) {
	dir := t.TempDir()
	cert, key, tokens := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "tokens")
	writePair(t, cert, key, "server")
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(tokens, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("the-first-token-of-all")
	r := start(t, config.Sources{Path: newFile(t, respRules).path, Flags: map[string]string{
		"resp.listen": "127.0.0.1:0", "tokens.file": tokens, "tls.cert": cert, "tls.key": key,
	}})
	conn := tls.Client(r.dial(), &tls.Config{InsecureSkipVerify: true})
	tell(t, conn, "SLUICE.CHECK login user=ann\r\n", "-NOAUTH Authentication required.\r\n")
	tell(t, conn, "AUTH the-first-token-of-all\r\nSLUICE.CHECK login user=ann\r\n", "+OK\r\n"+fourLeft)
	_ = conn.Close()
	conn = tls.Client(r.dial(), &tls.Config{InsecureSkipVerify: true})
	tell(t, conn, "AUTH the-first-token-of-all\r\n", "+OK\r\n")
	write("the-second-token-of-all")
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	tell(t, conn, "ECHO a\r\nAUTH the-second-token-of-all\r\nECHO a\r\n", "-NOAUTH Authentication required.\r\n+OK\r\n$1\r\na\r\n")
}

// TestRESPResetIsAudited: who forgets what was spent is remembered, as at the API.
func TestRESPResetIsAudited(t *testing.T) {
	r := start(t, config.Sources{Path: newFile(t, respRules).path, Flags: map[string]string{"resp.listen": "127.0.0.1:0", "log.keys": "plain"}})
	tell(t, r.dial(), "SLUICE.RESET login user=ann\r\n", "+OK\r\n")
	e := r.Audit(1)[0]
	if e.Action != "reset" || e.Source != "resp from 127.0.0.1" || len(e.Lines) != 1 || !strings.HasPrefix(e.Lines[0], "rule login, key ") || !strings.Contains(e.Lines[0], "ann") {
		t.Errorf("%+v", e)
	}
}

// TestRESPSharesDescriptors: all clients together leave some for everything else.
func TestRESPSharesDescriptors(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"resp.listen": "127.0.0.1:0", "resp.connections": "1000000", "limits.connections": "1000000"}})
	conn := r.dial()
	tell(t, conn, "INFO\r\nQUIT\r\n", "$")
	info, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(info), "maxclients:")
	number, _, _ := strings.Cut(rest, "\r")
	redis, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	all, files := redis+int64(r.number("sluice_connections_limit")), app.Descriptors()
	if files > 0 && files < 2_000_000 && all >= files {
		t.Errorf("%d connections with %d descriptors", all, files)
	}
}

// TestRESPEndsInOrder: with a client that is connected, the server ends at once.
func TestRESPEndsInOrder(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"resp.listen": "127.0.0.1:0"}})
	conn := r.dial()
	tell(t, conn, "PING\r\n", "+PONG\r\n")
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestRESPOverRedis: instances share the budgets of CL.THROTTLE and of rules, a pipeline is
// answered in order, and when Redis is gone this instance goes on.
func TestRESPOverRedis(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	sources := config.Sources{Path: newFile(t, respRules).path, Flags: map[string]string{"resp.listen": "127.0.0.1:0", "redis": redis.url(), "lease.on": "false"}}
	one, two := start(t, sources), start(t, sources)
	a, b := one.dial(), two.dial()
	tell(t, a, "CL.THROTTLE k 9 1 100\r\nCL.THROTTLE other 9 1 100\r\nCL.THROTTLE k 9 1 100 2\r\nPING\r\n",
		"*5\r\n:0\r\n:10\r\n:9\r\n:-1\r\n:100\r\n"+"*5\r\n:0\r\n:10\r\n:9\r\n:-1\r\n:100\r\n"+"*5\r\n:0\r\n:10\r\n:7\r\n:-1\r\n:300\r\n+PONG\r\n")
	tell(t, b, "CL.THROTTLE k 9 1 100 7\r\n", "*5\r\n:0\r\n:10\r\n:0\r\n")
	tell(t, a, "CL.THROTTLE k 9 1 100 2\r\n", "*5\r\n:1\r\n:10\r\n:0\r\n")
	tell(t, one.dial(), "CL.THROTTLE k 9 1 100 -3\r\n", "*5\r\n:0\r\n:10\r\n:3\r\n")
	tell(t, two.dial(), "SLUICE.CHECK login user=ann\r\n", fourLeft)
	redis.kill()
	tell(t, one.dial(), "CL.THROTTLE fresh 9 1 100\r\n", "*5\r\n:0\r\n:10\r\n")
}
