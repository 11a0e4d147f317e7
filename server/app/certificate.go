package app

import (
	"crypto/tls"
	"log/slog"
	"os"
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
	stamp   stamp // of the files that were last read
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
	c.stamp = stamp
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		c.logger.Error("the new certificate cannot be used, the old one stays", "error", err)
		return c.pair
	}
	c.pair = &pair
	c.logger.Info("new certificate", "file", c.cert, "until", pair.Leaf.NotAfter)
	return c.pair
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
