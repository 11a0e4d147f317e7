package nginx

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// unlimited replaces the rules of the example by one that lets everything pass, and one
// that refuses.
const unlimited = `rules:
  - name: refused
    match: {paths: [/refused]}
    key: [ip]
    limits: [0/s]
  - name: everything
    key: [ip]
    limits: [1000000000/s]
`

// BenchmarkCost prints what the question to sluice adds to a request through nginx, in
// microseconds: for one client, and for sixteen at the same time. Both ways take turns,
// so that what else the machine does troubles both. Everything is on this machine.
func BenchmarkCost(b *testing.B) {
	file := filepath.Join(b.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(unlimited), 0o600); err != nil {
		b.Fatal(err)
	}
	sluice, app := proxytest.Sluice(b, file), proxytest.NewApp(b)
	nginx := start(b, sluice.Addr, app.Addr)
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			load := newLoad(b, nginx.Addr, clients)
			var plain, limited, refused time.Duration
			for b.Loop() {
				plain += load.run("/healthz", http.StatusOK)
				limited += load.run("/", http.StatusOK)
				refused += load.run("/refused", http.StatusTooManyRequests)
			}
			per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*requests*clients) }
			b.ReportMetric(0, "ns/op") // of three loads together, which says nothing
			b.ReportMetric(per(plain), "plain-µs")
			b.ReportMetric(per(limited), "limited-µs")
			b.ReportMetric(per(limited)-per(plain), "added-µs")
			b.ReportMetric(per(refused), "refused-µs")
			b.ReportMetric(1e6/per(limited), "limited/s")
		})
	}
}

// requests is how many every client sends in a run.
const requests = 200

// load is a number of clients.
type load struct {
	b    testing.TB
	base string
	http []*http.Client
}

func newLoad(b testing.TB, addr string, clients int) *load {
	l := &load{b: b, base: "http://" + addr}
	for range clients {
		transport := &http.Transport{DialContext: (&net.Dialer{}).DialContext}
		b.Cleanup(transport.CloseIdleConnections)
		l.http = append(l.http, &http.Client{Transport: transport})
	}
	return l
}

// run returns how long it takes until all clients have had their answers.
func (l *load) run(target string, status int) time.Duration {
	begin := time.Now()
	var all sync.WaitGroup
	for _, c := range l.http {
		all.Go(func() {
			for range requests {
				if err := get(c, l.base+target, status); err != nil {
					l.b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(begin)
}

func get(c *http.Client, url string, status int) error {
	res, err := c.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err = io.Copy(io.Discard, res.Body); err == nil && res.StatusCode != status {
		err = fmt.Errorf("%s: status %d, want %d", url, res.StatusCode, status)
	}
	return err
}
