package gateway_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// stranger is a certificate that has signed nothing.
func stranger(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// The certificates that are believed are those that the file holds when the settings are
// applied, also if nothing else has changed.
func TestApplyReadsCertificatesAnew(t *testing.T) {
	up := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	write := func(der []byte) {
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(stranger(t))
	c := load(t, single(up.URL, fmt.Sprintf("ca: %q, health: {fall: 100}", file))).Gateway
	g := start(t, single(up.URL, fmt.Sprintf("ca: %q, health: {fall: 100}", file)))
	for _, step := range []struct {
		der    []byte
		status int
	}{{nil, 502}, {up.Certificate().Raw, 200}, {stranger(t), 502}} {
		if step.der != nil {
			write(step.der)
			if err := g.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if res, text := g.get("/"); res.StatusCode != step.status {
			t.Errorf("%s %s, want %d", res.Status, text, step.status)
		}
	}
}
