package app

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// certificate is read from two files, and again when one of them changes: looked at when
// a client comes, at most once a second. A pair that does not fit, such as while one of
// them is being replaced, leaves the old one in use.
type certificate struct {
	cert, key string
	logger    *slog.Logger

	mu      sync.Mutex // guards all below
	pair    *tls.Certificate
	stamp   stamp // of the files that the pair came from
	failed  stamp // of files that could not be used, to complain once
	checked time.Time
}

// stamp tells versions of the files apart.
type stamp struct{ cert, key fileStamp }

type fileStamp struct {
	changed time.Time
	size    int64
}

// recheck is how often the files are looked at.
const recheck = time.Second

func newCertificate(cert, key string, logger *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, logger: logger, checked: now()}
	c.stamp = c.look()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	c.pair = &pair
	return c, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.get(now()), nil
	}}
}

// get returns the pair that holds now.
func (c *certificate) get(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.checked) < recheck {
		return c.pair
	}
	c.checked = now
	stamp := c.look()
	if stamp == c.stamp {
		return c.pair
	}
	c.read(stamp)
	return c.pair
}

// reload reads the files whether they look changed or not: their size and time may be as
// before.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = stamp{} // who asks wants to know
	c.read(c.look())
}

// read takes the files in use if they fit. If not, they are tried again: what was wrong
// may be gone without a trace in the stamp, such as a lack of rights or of descriptors.
func (c *certificate) read(now stamp) {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		if now != c.failed {
			c.logger.Error("the new certificate cannot be used, the old one stays", "error", err)
		}
		c.failed = now
		return
	}
	if !slices.EqualFunc(pair.Certificate, c.pair.Certificate, bytes.Equal) {
		c.logger.Info("new certificate", "file", c.cert, "until", pair.Leaf.NotAfter)
	}
	c.pair, c.stamp, c.failed = &pair, now, stamp{}
}

// look returns the state of the files; one that is missing has none.
func (c *certificate) look() stamp {
	of := func(path string) (f fileStamp) {
		if info, err := os.Stat(path); err == nil {
			f = fileStamp{info.ModTime(), info.Size()}
		}
		return f
	}
	return stamp{of(c.cert), of(c.key)}
}
