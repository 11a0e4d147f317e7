package server

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// entrant is one thing to measure.
type entrant struct {
	name   string
	server *process // nil if it is none
	run    func(length time.Duration) (*round, error)
	close  func() error

	rates, p99s, cpus []float64 // of each round: per second, µs, µs of the server per request
	errors, requests  int
	before, after     int64 // bytes in memory: after the first round, after the last
}

func (e *entrant) rate() float64 { return frame.Median(e.rates) }
func (e *entrant) p99() float64  { return frame.Median(e.p99s) }
func (e *entrant) cpu() float64  { return frame.Median(e.cpus) }

// measure runs one round.
func (e *entrant) measure(length time.Duration) error {
	var before time.Duration
	if e.server != nil {
		before = e.server.cpu()
	}
	r, err := e.run(length)
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	e.errors += r.errors
	e.requests += r.requests
	e.rates = append(e.rates, r.rate())
	e.p99s = append(e.p99s, microseconds(r.quantile(0.99)))
	if e.server != nil {
		e.cpus = append(e.cpus, microseconds(e.server.cpu()-before)/float64(r.requests))
		e.after = e.server.memory()
	}
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// interleave measures the entrants round by round, after one that only warms up.
func interleave(es []*entrant, cfg frame.Config, r *rand.Rand) error {
	for _, e := range es {
		if err := e.measure(cfg.Time / 3); err != nil {
			return err
		}
		e.rates, e.p99s, e.cpus, e.before = nil, nil, nil, e.after
	}
	order := slices.Clone(es)
	for range cfg.Rounds {
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for _, e := range order {
			if err := e.measure(cfg.Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// bench holds what the entrants of a run need.
type bench struct {
	dir     string // for files
	program string // sluice
	redis   string // address
}

// sluice starts the server.
func (b *bench) sluice(name string, l lineup, settings ...string) (*entrant, error) {
	file := filepath.Join(b.dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		return nil, err
	}
	p, err := launch(append(settings, "SLUICE_LISTEN=127.0.0.1:0", "SLUICE_LOG_LEVEL=warn"), b.program, "serve", "--config", file)
	if err != nil {
		return nil, err
	}
	return asked(name, p, l), nil
}

// noop starts the server that does nothing, with the answer that another one gives.
func (b *bench) noop(other *entrant, l lineup) (*entrant, error) {
	answer, err := sample(other.server.address, checks(l.batch)[0])
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, l.name+".json")
	if err := os.WriteFile(file, answer, 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := launch([]string{noopVariable + "=" + file}, self)
	if err != nil {
		return nil, err
	}
	return asked("no-op handler", p, l), nil
}

// asked is a server under load.
func asked(name string, p *process, l lineup) *entrant {
	messages := checks(l.batch)
	return &entrant{name: name, server: p, close: p.stop, run: func(length time.Duration) (*round, error) {
		return load(p.address, messages, l.connections, length)
	}}
}

// library is decided in this process.
func (b *bench) library(l lineup) (*entrant, error) {
	lib, err := openLibrary(b.redis)
	if err != nil {
		return nil, err
	}
	return &entrant{
		name: "library", close: func() error { lib.close(); return nil },
		run: func(length time.Duration) (*round, error) { return lib.run(l.connections, length) },
	}, nil
}
