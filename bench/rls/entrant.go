package rls

import (
	"errors"
	"net"
	"os"
	"path/filepath"
)

// entrant is a server that takes part.
type entrant struct {
	name    string
	address string
	stop    func()
	rounds  []round
}

// bench is what entrants need.
type bench struct {
	dir   string // for programs and files
	root  string // of the repository
	redis string // address
}

// descriptors are the same for all that read them. No limit but the last is ever reached.
const descriptors = `domain: bench
descriptors:
  - key: one
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
  - key: many
    rate_limit: {unit: hour, requests_per_unit: 4000000000}
  - key: denied
    rate_limit: {unit: day, requests_per_unit: 1}
`

// prepare builds the programs and writes the descriptors to where both services look.
func (b *bench) prepare() error {
	folder := filepath.Join(b.dir, "ratelimit", "config")
	return errors.Join(
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "bench.yaml"), []byte(descriptors), 0o600),
		build(filepath.Join(b.root, "server"), "./cmd/sluice", filepath.Join(b.dir, "sluice")),
		build(filepath.Join(b.root, "bench", "rls", "peers"), "github.com/envoyproxy/ratelimit/src/service_cmd", filepath.Join(b.dir, "envoyproxy-ratelimit")),
	)
}

// enter starts all entrants; the no-op server is the first. Those that it returns run,
// also if another failed.
func (b *bench) enter() (all []*entrant, err error) {
	for _, start := range []func() (*entrant, error){
		b.noop,
		func() (*entrant, error) { return b.sluice("sluice, memory") },
		func() (*entrant, error) {
			return b.sluice("sluice, Redis", "SLUICE_REDIS=redis://"+b.redis, "SLUICE_DEADLINE=1s")
		},
		b.envoyproxy,
	} {
		e, err := start()
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// server starts a program that listens for gRPC on the address.
func server(name, address string, env []string, program string, args ...string) (*entrant, error) {
	p, err := launch(address, env, program, args...)
	if err != nil {
		return nil, err
	}
	return &entrant{name: name, address: address, stop: p.stop}, nil
}

func (b *bench) noop() (*entrant, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return server("no-op", address, []string{noopAddress + "=" + address}, self)
}

func (b *bench) sluice(name string, settings ...string) (*entrant, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return server(name, address, settings, filepath.Join(b.dir, "sluice"), "serve", "--listen", "127.0.0.1:0",
		"--grpc", address, "--envoy-config", filepath.Join(b.dir, "ratelimit", "config"))
}

// envoyproxy runs envoyproxy/ratelimit with its defaults, but for statsd, which is not
// there, and the log.
func (b *bench) envoyproxy() (*entrant, error) {
	var ports [3]string
	var address string
	for i := range ports {
		free, err := freeAddress()
		if err != nil {
			return nil, err
		}
		if _, ports[i], err = net.SplitHostPort(free); err != nil {
			return nil, err
		}
		if i == 0 {
			address = free
		}
	}
	return server("envoyproxy/ratelimit, Redis", address, []string{
		"GRPC_PORT=" + ports[0], "PORT=" + ports[1], "DEBUG_PORT=" + ports[2], "GRPC_HOST=127.0.0.1", "HOST=127.0.0.1", "DEBUG_HOST=127.0.0.1",
		"USE_STATSD=false", "LOG_LEVEL=error", "BACKEND_TYPE=redis", "REDIS_SOCKET_TYPE=tcp", "REDIS_URL=" + b.redis,
		"RUNTIME_ROOT=" + b.dir, "RUNTIME_SUBDIRECTORY=ratelimit", "RUNTIME_WATCH_ROOT=false",
	}, filepath.Join(b.dir, "envoyproxy-ratelimit"))
}
