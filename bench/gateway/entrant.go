package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// entrant is one thing to measure.
type entrant struct {
	name, note string
	process    *process

	rates, p99s, cpus []float64 // of each round: per second, µs, µs of processor time per request
	requests, wrong   float64   // wrong: forwarded instead of refused, or the other way, or not answered
}

func (e *entrant) rate() float64 { return frame.Median(e.rates) }
func (e *entrant) p99() float64  { return frame.Median(e.p99s) }
func (e *entrant) cpu() float64  { return frame.Median(e.cpus) }

// bench holds what the entrants of a run need.
type bench struct {
	dir      string // for files
	program  string // sluice
	upstream string // address
	refuse   bool   // the case
}

// write puts settings into a file of this run.
func (b *bench) write(name, text string) (string, error) {
	file := filepath.Join(b.dir, name)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// start runs a program with settings for an address.
func (b *bench) start(name, file string, settings func(address string) string, command func(file string) []string) (*entrant, error) {
	address, err := free()
	if err != nil {
		return nil, err
	}
	path, err := b.write(file, settings(address))
	if err != nil {
		return nil, err
	}
	words := command(path)
	p, err := launch(b.dir, name, address, []string{"XDG_DATA_HOME=" + b.dir, "XDG_CONFIG_HOME=" + b.dir}, words[0], words[1:]...)
	return &entrant{name: name, process: p}, err
}

func (b *bench) sluice() (*entrant, error) {
	api, err := free()
	if err != nil {
		return nil, err
	}
	return b.start("sluice", "sluice.yaml",
		func(address string) string { return sluiceSettings(address, api, b.upstream, b.refuse) },
		func(file string) []string { return []string{b.program, "gateway", "--config", file} })
}

func (b *bench) nginx() (*entrant, error) {
	return b.start("nginx", "nginx.conf",
		func(address string) string { return nginxSettings(b.dir, address, b.upstream, b.refuse) },
		func(file string) []string { return []string{"nginx", "-c", file} })
}

func (b *bench) haproxy() (*entrant, error) {
	return b.start("HAProxy", "haproxy.cfg",
		func(address string) string { return haproxySettings(address, b.upstream, b.refuse) },
		func(file string) []string { return []string{"haproxy", "-db", "-f", file} })
}

func (b *bench) caddy() (*entrant, error) {
	e, err := b.start("Caddy", "Caddyfile",
		func(address string) string { return caddySettings(address, b.upstream, b.refuse) },
		func(file string) []string {
			return []string{"caddy", "run", "--adapter", "caddyfile", "--config", file}
		})
	if err == nil {
		e.note = "has no limiter of its own"
	}
	return e, err
}

// bare starts one of the floors: this program, in another role.
func (b *bench) bare(name, variable, value string) (*entrant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := free()
	if err != nil {
		return nil, err
	}
	p, err := launch(b.dir, name, address, []string{variable + "=" + value, listenVariable + "=" + address}, self)
	return &entrant{name: name, process: p}, err
}

// refusal keeps an answer of the gateway for the floor to repeat.
func (b *bench) refusal(address string) (string, error) {
	for range 10 {
		res, err := http.Get("http://" + address + "/some/path?with=query")
		if err != nil {
			return "", err
		}
		text, err := httputil.DumpResponse(res, true)
		_ = res.Body.Close()
		if err != nil {
			return "", err
		}
		if res.StatusCode == http.StatusTooManyRequests {
			return b.write("refusal", string(text))
		}
	}
	return "", errors.New("the gateway refuses nothing")
}

// check sends some requests and compares the status with what the case is about. The
// first may pass where others are refused.
func (b *bench) check(e *entrant) error {
	want, status := http.StatusOK, 0
	if b.refuse {
		want = http.StatusTooManyRequests
	}
	for range 10 {
		res, err := http.Get("http://" + e.process.address + "/some/path")
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if status = res.StatusCode; status == want {
			return nil
		}
	}
	return fmt.Errorf("%s answers with %d instead of %d", e.name, status, want)
}
