package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// Certificate is what tests look at with a clock of their own.
type Certificate struct{ c *certificate }

// NewCertificate reads a pair.
func NewCertificate(cert, key string, logger *slog.Logger) (Certificate, error) {
	c, err := newCertificate(cert, key, logger)
	return Certificate{c}, err
}

// Get returns the pair that holds at this time.
func (c Certificate) Get(now time.Time) *tls.Certificate { return c.c.get(now) }

// Occupy takes places in flight until the function is called.
func (a *App) Occupy(n int) (leave func()) {
	for range n {
		a.places.Enter()
	}
	return func() {
		for range n {
			a.places.Leave()
		}
	}
}

// Connections returns how many there may be.
func Connections(wanted int, descriptors int64, logger *slog.Logger) int {
	return connections("limits.connections", wanted, descriptors, logger)
}

// Descriptors returns how many files this process may have open, 0 if nobody knows.
func Descriptors() int64 { return descriptors() }

// Server returns what answers for the API.
func (a *App) Server() *http.Server { return a.server() }

// DescriptorStamp returns the stamp of the files that the descriptors in force stand for:
// as long as that of the files is the same, they are not read again.
func (a *App) DescriptorStamp() string { return a.tree().Stamp() }

// FileChanged tells what the watcher has read.
func (a *App) FileChanged(ctx context.Context, seen *rulefile.Result) { a.fileChanged(ctx, seen, nil) }
