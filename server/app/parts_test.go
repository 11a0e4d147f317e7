package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/config"
)

// writePair makes a certificate with this name.
func writePair(t *testing.T, cert, key, name string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, "first")
	r := start(t, config.Sources{Flags: map[string]string{"tls.cert": cert, "tls.key": key}})
	name := func() string {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get("https://" + r.Addr().String() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.ProtoMajor != 2 {
			t.Errorf("%s", response.Proto)
		}
		return response.TLS.PeerCertificates[0].Subject.CommonName
	}
	if got := name(); got != "first" {
		t.Error(got)
	}
	if err := os.WriteFile(key, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a bad key is reported", func() bool {
		if got := name(); got != "first" {
			t.Fatalf("with a bad key: %s", got)
		}
		return strings.Contains(r.log.String(), "the old one stays")
	})
	writePair(t, cert, key, "second")
	eventually(t, "the new certificate", func() bool { return name() == "second" })
}

func TestBadCertificate(t *testing.T) {
	_, err := open(t, config.Sources{Flags: map[string]string{"tls.cert": "/no/such", "tls.key": "/no/such"}})
	if err == nil || !strings.Contains(err.Error(), "tls: open /no/such") {
		t.Errorf("err = %v", err)
	}
}

func TestSystemdIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "n")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	next := func() string {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		message := make([]byte, 1000)
		n, err := c.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
	r := start(t, config.Sources{Env: func(name string) (string, bool) { return socket, name == "NOTIFY_SOCKET" }})
	if got := next(); got != "READY=1" {
		t.Error(got)
	}
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	if got := next(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") || strings.HasSuffix(got, "=0") {
		t.Errorf("%q", got)
	}
	if got := next(); got != "READY=1" {
		t.Error(got)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if got := next(); got != "STOPPING=1" {
		t.Error(got)
	}
}

func TestDecisionsAreLogged(t *testing.T) {
	f := newFile(t, "rules: [{name: a, key: [user], limits: [1/h]}]\n")
	for keys, want := range map[string]string{"hash": " key=", "plain": "ann@example.com", "none": ""} {
		t.Run(keys, func(t *testing.T) {
			r := start(t, config.Sources{Path: f.path, Flags: map[string]string{"log.decisions": "1", "log.keys": keys}})
			for range 2 {
				if _, err := r.Engine().Check(context.Background(), engine.Request{Method: "GET", Path: "/x", User: "ann@example.com"}); err != nil {
					t.Fatal(err)
				}
			}
			log := r.log.String()
			if strings.Count(log, "msg=decision") != 2 || !strings.Contains(log, "allowed=false method=GET path=/x rule=a") || !strings.Contains(log, "reason=limited") {
				t.Error(log)
			}
			if !strings.Contains(log, want) || strings.Contains(log, "ann@") != (keys == "plain") || strings.Contains(log, " key=") != (keys != "none") {
				t.Error(log)
			}
		})
	}
	r := start(t, config.Sources{Path: f.path})
	r.check()
	if strings.Contains(r.log.String(), "msg=decision") {
		t.Error("decisions are logged although nobody asked")
	}
}

func TestSampledDecisionLog(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"log.decisions": "0.1"}})
	for range 2000 {
		r.check()
	}
	// 200 are expected, with a standard deviation of 13.4.
	if n := strings.Count(r.log.String(), "msg=decision"); n < 100 || n > 300 {
		t.Errorf("%d of 2,000 were logged", n)
	}
}

func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(300 << 20)
	defer debug.SetMemoryLimit(before)
	for _, tt := range []struct {
		memory, instance string
		warns            bool
	}{{"100MiB", "25MiB", false}, {"100MiB", "26MiB", true}, {"256MiB", "1MiB", true}} {
		r := start(t, config.Sources{Flags: map[string]string{"memory": tt.memory, "instance_memory": tt.instance, "record.memory": "0B"}})
		if got := strings.Contains(r.log.String(), "GOMEMLIMIT=300MiB"); got != tt.warns {
			t.Errorf("memory %s and %s: warned %v", tt.memory, tt.instance, got)
		}
	}
}

func TestBatchOverRedis(t *testing.T) {
	redis := newRedis(t)
	redis.start()
	f := newFile(t, "server: {redis: '"+redis.url()+"', deadline: 30s, lease: {on: false}}\n"+shared)
	r := start(t, config.Sources{Path: f.path})
	batch := `{"requests":[{"path":"/"}` + strings.Repeat(`,{"path":"/"}`, 199) + `]}`
	response, body := r.do("POST", "/v1/check", batch)
	if allowed := strings.Count(body, `"allowed":true`); response.StatusCode != 200 || allowed != 100 {
		t.Errorf("%d: %d of a limit of 100 were allowed", response.StatusCode, allowed)
	}
}
