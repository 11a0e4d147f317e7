package envoy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// program is the real binary, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-e2e-envoy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "sluice")
	build := exec.Command("go", "build", "-o", program, "./cmd/sluice")
	build.Dir, build.Env = "../../server", append(os.Environ(), "GOWORK=off")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, text)
		return 1
	}
	return m.Run()
}

// log is what a process writes.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// instance is a sluice that runs.
type instance struct {
	t      *testing.T
	cmd    *exec.Cmd
	log    *log
	client pb.RateLimitServiceClient
	ended  chan error
}

// start runs the drop-in command with further flags.
func start(t *testing.T, config string, flags ...string) *instance {
	t.Helper()
	i := &instance{t: t, log: &log{}, ended: make(chan error, 1)}
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--envoy-config", config}, flags...)
	i.cmd = exec.Command(program, args...)
	i.cmd.Stdout, i.cmd.Stderr = i.log, i.log
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { i.ended <- i.cmd.Wait() }()
	address := ""
	eventually(t, "it says where it listens", func() bool {
		_, after, found := strings.Cut(i.log.String(), "service listens on ")
		address, _, _ = strings.Cut(after, "\n")
		return found && strings.Contains(after, "\n")
	})
	i.connect(address)
	t.Cleanup(func() {
		if i.cmd.ProcessState == nil {
			i.stop()
		}
		if t.Failed() {
			t.Log(i.log)
		}
	})
	return i
}

// connect opens a connection until the test ends.
func (i *instance) connect(address string) {
	i.t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { _ = conn.Close() })
	i.client = pb.NewRateLimitServiceClient(conn)
}

// stop ends it in order.
func (i *instance) stop() {
	i.t.Helper()
	if err := i.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		i.t.Error(err)
	}
	if err := <-i.ended; err != nil {
		i.t.Errorf("it ended with %v", err)
	}
}

// ask sends descriptors as "key=value key=value", and returns whether they may pass.
func (i *instance) ask(descriptors ...string) bool {
	i.t.Helper()
	r := &pb.RateLimitRequest{Domain: "shop"}
	for _, text := range descriptors {
		d := &ratelimitv3.RateLimitDescriptor{}
		for _, entry := range strings.Fields(text) {
			key, value, _ := strings.Cut(entry, "=")
			d.Entries = append(d.Entries, &ratelimitv3.RateLimitDescriptor_Entry{Key: key, Value: value})
		}
		r.Descriptors = append(r.Descriptors, d)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	answer, err := i.client.ShouldRateLimit(ctx, r)
	if err != nil {
		i.t.Fatal(err)
	}
	return answer.GetOverallCode() == pb.RateLimitResponse_OK
}

// request asks as the Envoy of the example does for one request.
func (i *instance) request(address, path, key string) bool {
	i.t.Helper()
	all := []string{"remote_address=" + address, "path=" + path + " remote_address=" + address, "path=" + path}
	if key != "" {
		all = append(all, "api_key="+key)
	}
	return i.ask(all...)
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

// startRedis returns the URL of a server of our own.
func startRedis(t *testing.T) string {
	t.Helper()
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server: %v: install it with apt-get install redis-server", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "Redis listens", func() bool { return listens(address) })
	return "redis://" + address
}

// freeAddress returns one that nobody has at this moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
