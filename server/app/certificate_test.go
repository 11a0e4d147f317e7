package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

// replace writes a file with a time of change of its own.
func replace(t *testing.T, path string, data []byte, changed time.Time) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
}

// A pair that could not be read is tried again although its files look the same.
func TestCertificateIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, "first")
	var log bytes.Buffer
	c, err := app.NewCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	get := func() string {
		now = now.Add(2 * time.Second)
		return c.Get(now).Leaf.Subject.CommonName
	}
	writePair(t, cert, key, "second")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Unix(1e9, 0)
	replace(t, key, bytes.Repeat([]byte("x"), len(good)), changed)
	if a, b := get(), get(); a != "first" || b != "first" {
		t.Errorf("with a bad key: %s, %s", a, b)
	}
	if n := strings.Count(log.String(), "the old one stays"); n != 1 {
		t.Errorf("%d complaints:\n%s", n, log.String())
	}
	replace(t, key, good, changed)
	if got := get(); got != "second" {
		t.Errorf("with a good key: %s", got)
	}
}

// A reload reads the certificate even if its files look the same.
func TestReloadReadsTheCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, "first")
	r, err := open(t, config.Sources{Flags: map[string]string{"tls.cert": cert, "tls.key": key}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	writePair(t, cert, key, "second")
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.log.String(), "new certificate") {
		t.Error(r.log.String())
	}
}
