package app

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"
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

// Server returns what answers for the API.
func (a *App) Server() *http.Server { return a.server() }
