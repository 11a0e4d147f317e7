package app_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/config"
)

// redisServer is a real one that can go and come back on the same port.
type redisServer struct {
	t    *testing.T
	port int
	kill func()
}

func (s *redisServer) url() string { return "redis://127.0.0.1:" + strconv.Itoa(s.port) }

// newRedis picks a port; start makes somebody answer there.
func newRedis(t *testing.T) *redisServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &redisServer{t: t, port: l.Addr().(*net.TCPAddr).Port, kill: func() {}}
	_ = l.Close()
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *redisServer) start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("no redis-server in PATH: install Redis 6.2 or newer (Debian: apt-get install redis-server); tests with Redis are not skipped")
	}
	cmd := exec.Command(path, "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.t.TempDir(), "--daemonize", "no")
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("redis-server ended: %v: %s", err, line)
		}
		if strings.Contains(line, "eady to accept connections") {
			break
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	s.kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
}

const shared = `
rules:
  - {name: all, limits: ["1/d burst=100"]}
`

// check asks the engine, and fails on errors.
func (r *running) check() engine.Decision {
	r.t.Helper()
	d, err := r.Engine().Check(context.Background(), engine.Request{Path: "/"})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func TestRedisGoesAndComesBack(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 1s, lease: {on: false}}\n"+shared)
	r := start(t, config.Sources{Path: f.path})
	if d := r.check(); !d.Allowed || d.Degraded {
		t.Fatalf("with Redis: %+v", d)
	}
	if got := r.metric("sluice_breaker_open"); got != "sluice_breaker_open 0" {
		t.Error(got)
	}
	redis.kill()
	if d := r.check(); !d.Allowed || !d.Degraded {
		t.Errorf("without Redis: %+v", d)
	}
	eventually(t, "the breaker opens", func() bool {
		r.check()
		return r.metric("sluice_breaker_open") == "sluice_breaker_open 1"
	})
	if r.Ready() != nil {
		t.Error("not ready without Redis, although rules say what then")
	}
	redis.start()
	eventually(t, "Redis decides again", func() bool { return !r.check().Degraded })
	if got := r.metric("sluice_store_errors_total"); got == "" {
		t.Error("no errors were counted")
	}
}

func TestStartsWithoutRedis(t *testing.T) {
	redis := newRedis(t)
	f := newFile(t, "server: {redis: '"+redis.url()+"'}\n"+shared)
	r := start(t, config.Sources{Path: f.path})
	if d := r.check(); !d.Allowed || !d.Degraded {
		t.Fatalf("without Redis: %+v", d)
	}
	if !strings.Contains(r.log.String(), "Redis cannot be reached") {
		t.Error("nobody was told")
	}
	redis.start()
	eventually(t, "Redis decides", func() bool { return !r.check().Degraded })
}

// A Redis that is gone does not keep the server from ending well.
func TestEndsWithoutRedis(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"'}\nrules: [{name: all, limits: [1000000/s]}]\n")
	r := start(t, config.Sources{Path: f.path})
	for range 1000 {
		r.check()
	}
	redis.kill()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestInstancesKnowEachOther(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	// Who dies without a word is counted for a minute.
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 30s, split: {group: g, hold: 1m}}\n"+shared)
	a := start(t, config.Sources{Path: f.path})
	b := start(t, config.Sources{Path: f.path})
	if got := b.metric("sluice_instances"); got != "sluice_instances 2" {
		t.Errorf("%s, want 2", got)
	}
	// Both spend from one budget.
	allowed := 0
	for range 100 {
		for _, r := range []*running{a, b} {
			if r.check().Allowed {
				allowed++
			}
		}
	}
	if allowed == 0 || allowed > 100 {
		t.Errorf("%d were allowed of a limit of 100", allowed)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	c := start(t, config.Sources{Path: f.path})
	if got := c.metric("sluice_instances"); got != "sluice_instances 2" {
		t.Errorf("after one has left: %s, want 2", got)
	}
}

// What an instance took ahead is there for others when it has ended.
func TestLeasesAreGivenBack(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 30s, lease: {age: 10s}}\nrules: [{name: all, limits: [fixed_window 100000/d]}]\n")
	a := start(t, config.Sources{Path: f.path})
	spent := int64(0)
	for range 20_000 {
		if a.check().Allowed {
			spent++
		}
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	b := start(t, config.Sources{Path: f.path})
	d, err := b.Engine().Peek(context.Background(), engine.Request{Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if left := d.Remaining() + 1; left != 100_000-spent {
		t.Errorf("%d were spent, and %d are left of 100,000", spent, left)
	}
}

func TestKeysAreHashedInRedis(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 30s, lease: {on: false}, keys: {hash: true, secret: {env: SECRET}}}\nrules: [{name: all, key: [user], limits: [1/d]}]\n")
	r := start(t, config.Sources{Path: f.path, Env: func(name string) (string, bool) {
		return "0123456789abcdef", name == "SECRET"
	}})
	if d, err := r.Engine().Check(context.Background(), engine.Request{User: "ann"}); err != nil || !d.Allowed {
		t.Fatal(d, err)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(redis.url(), "redis://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("KEYS sluice*\r\nQUIT\r\n")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || !strings.Contains(string(answer), "sluice:") || strings.Contains(string(answer), "ann") {
		t.Errorf("%q, %v", answer, err)
	}
}
