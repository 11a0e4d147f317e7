package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	host = "127.0.0.1"
	// databases is how many contestants can be open at once.
	databases = 64
)

// server is a redis-server of our own, without persistence.
type server struct {
	cmd   *exec.Cmd
	dir   string
	port  int
	admin *goredis.Client
}

// startServer starts a redis-server on a free port and waits until it answers.
func startServer() (*server, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("redis-server is not in PATH: install Redis 6.2 or newer (on Debian: apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp("", "sluice-bench-redis-")
	if err != nil {
		return nil, err
	}
	// Somebody else can take the port before the server does, so try again.
	for range 3 {
		var s *server
		if s, err = tryServer(binary, dir); err == nil {
			return s, nil
		}
	}
	_ = os.RemoveAll(dir)
	return nil, err
}

func tryServer(binary, dir string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, port: port}
	s.cmd = exec.Command(binary, "--port", strconv.Itoa(port), "--bind", host, "--dir", dir,
		"--save", "", "--appendonly", "no", "--databases", strconv.Itoa(databases), "--loglevel", "warning")
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.admin = goredis.NewClient(&goredis.Options{Addr: s.env(0).addr(), PoolSize: 1, MaxRetries: -1})
	if err := s.awaitAnswer(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func (s *server) env(db int) Env { return Env{Host: host, Port: s.port, DB: db} }

func (s *server) awaitAnswer() error {
	var err error
	for range 200 {
		if err = s.admin.Ping(context.Background()).Err(); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("redis-server on port %d does not answer: %w", s.port, err)
}

// flush empties all databases. Scripts stay loaded.
func (s *server) flush() error {
	return s.admin.FlushAll(context.Background()).Err()
}

// stop ends the process without touching the directory.
func (s *server) stop() {
	_ = s.admin.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// close ends the server and removes what it left.
func (s *server) close() {
	s.stop()
	_ = os.RemoveAll(s.dir)
}

// Serve starts a redis-server for another benchmark, and returns its address and what
// ends it.
func Serve() (address string, stop func(), err error) {
	s, err := startServer()
	if err != nil {
		return "", nil, err
	}
	return s.env(0).addr(), s.close, nil
}
