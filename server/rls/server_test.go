package rls_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice/server/rls"
)

// tokens of a test can be turned on.
type tokens struct{ needed atomic.Bool }

func (t *tokens) Needed() bool           { return t.needed.Load() }
func (t *tokens) Fits(token string) bool { return token == "a good token" }

func TestTokens(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	asked := &tokens{}
	service := rls.New(rls.Options{Engine: w.engine})
	w.serve(t, service, rls.ServerOptions{Tokens: asked, MaxMessage: 1 << 20, MaxStreams: 10})
	ask := func(lines ...string) codes.Code {
		ctx := context.Background()
		for _, line := range lines {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", line)
		}
		_, err := w.client.ShouldRateLimit(ctx, request("d", d("user=ann")))
		return status.Code(err)
	}
	if code := ask(); code != codes.OK {
		t.Errorf("without tokens: %v", code)
	}
	asked.needed.Store(true)
	for _, step := range []struct {
		lines []string
		want  codes.Code
	}{
		{nil, codes.Unauthenticated},
		{[]string{"Bearer a bad token"}, codes.Unauthenticated},
		{[]string{"Basic a good token"}, codes.Unauthenticated},
		{[]string{"Bearer a bad token", "Bearer a good token"}, codes.Unauthenticated},
		{[]string{"bearer  a good token"}, codes.OK},
	} {
		if code := ask(step.lines...); code != step.want {
			t.Errorf("%q: %v, want %v", step.lines, code, step.want)
		}
	}
	if _, err := healthpb.NewHealthClient(w.conn).Check(context.Background(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("health without a token: %v", err)
	}
	if _, err := reflected(t, w.conn); status.Code(err) != codes.Unauthenticated {
		t.Errorf("reflection without a token: %v", err)
	}
}

// TestTokensComeFirst: who has no token is refused before the message, which may be long
// and may never come.
func TestTokensComeFirst(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	asked := &tokens{}
	asked.needed.Store(true)
	w.serve(t, rls.New(rls.Options{Engine: w.engine}), rls.ServerOptions{Tokens: asked, MaxMessage: 1 << 20, MaxStreams: 10})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := w.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, pb.RateLimitService_ShouldRateLimit_FullMethodName)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(new(pb.RateLimitResponse)); status.Code(err) != codes.Unauthenticated {
		t.Errorf("before anything was sent: %v", err)
	}
}

// reflected returns the services that a server tells.
func reflected(t *testing.T, conn *grpc.ClientConn) (names []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// What is wrong with sending is told by receiving.
	_ = stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	r, err := stream.Recv()
	for _, s := range r.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	return names, err
}

func TestHealthAndReflection(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	for _, name := range []string{"", rls.HealthName, pb.RateLimitService_ServiceDesc.ServiceName} {
		r, err := healthpb.NewHealthClient(w.conn).Check(context.Background(), &healthpb.HealthCheckRequest{Service: name})
		if err != nil || r.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", name, r, err)
		}
	}
	names, err := reflected(t, w.conn)
	if err != nil || !strings.Contains(strings.Join(names, " "), "envoy.service.ratelimit.v3.RateLimitService") {
		t.Errorf("services: %v, %v", names, err)
	}
}

func TestMessagesHaveABound(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	_, err := w.client.ShouldRateLimit(context.Background(), request("d", d("user="+strings.Repeat("a", 2<<20))))
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("2 MiB of a message: %v", err)
	}
	w.want(w.ask(d("user="+strings.Repeat("a", 500_000))), true, 2) // a long key is hashed
}

// places of a test are one; how many found none is counted.
type places struct{ taken, shed atomic.Int64 }

func (p *places) Enter() bool {
	if p.taken.Add(1) > 1 {
		p.taken.Add(-1)
		p.shed.Add(1)
		return false
	}
	return true
}

func (p *places) Leave() { p.taken.Add(-1) }

// TestTooManyInFlight: what is too much is UNAVAILABLE, so that Envoy does what it does
// without a server.
func TestTooManyInFlight(t *testing.T) {
	all := &places{}
	w := newWorld(t, basic, rls.Options{Places: all})
	w.want(w.ask(d("user=ann")), true, 2) // one fits, and gives its place back
	w.want(w.ask(d("user=ann")), true, 1)
	all.Enter()
	if _, err := w.client.ShouldRateLimit(t.Context(), request("d", d("user=ann"))); status.Code(err) != codes.Unavailable {
		t.Errorf("the second of one: %v", err)
	}
	all.Leave()
	w.want(w.ask(d("user=ann")), true, 0) // it has spent nothing
	if shed, taken := all.shed.Load(), all.taken.Load(); shed != 1 || taken != 0 {
		t.Errorf("%d shed, %d places taken at the end", shed, taken)
	}
}

// TestKnownConnections: a connection is known when a call on it may be made, not when it
// asks for health or shows a wrong token.
func TestKnownConnections(t *testing.T) {
	w := newWorld(t, basic, rls.Options{})
	asked := &tokens{}
	asked.needed.Store(true)
	server, pool := certificate(t, "server")
	for name, secured := range map[string]bool{"clear": false, "TLS": true} {
		var known sync.Map
		o := rls.ServerOptions{Tokens: asked, MaxMessage: 1 << 20, MaxStreams: 10, Known: func(c net.Conn) { known.Store(c.RemoteAddr().String(), c) }}
		with := grpc.WithTransportCredentials(insecure.NewCredentials())
		if secured {
			o.TLS = &tls.Config{Certificates: []tls.Certificate{server}, MinVersion: tls.VersionTLS12}
			with = grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{ServerName: "localhost", RootCAs: pool, MinVersion: tls.VersionTLS12}))
		}
		w.serve(t, rls.New(rls.Options{Engine: w.engine}), o, with)
		count := func() (n int) {
			known.Range(func(_, c any) bool {
				if _, raw := c.(*net.TCPConn); !raw {
					t.Errorf("%s: %T is not what the listener gave", name, c)
				}
				n++
				return true
			})
			return n
		}
		if _, err := healthpb.NewHealthClient(w.conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil || count() != 0 {
			t.Errorf("%s: after a question for health %d are known, %v", name, count(), err)
		}
		for token, want := range map[string]int{"Bearer a bad token": 0, "Bearer a good token": 1} {
			known.Clear()
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", token)
			if _, err := w.client.ShouldRateLimit(ctx, request("d", d("user=ann"))); (err == nil) != (want == 1) || count() != want {
				t.Errorf("%s: after %q %d are known, %v", name, token, count(), err)
			}
		}
	}
}

// certificate makes one that is signed by itself.
func certificate(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: start.AddDate(-10, 0, 0), NotAfter: start.AddDate(50, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestClientCertificates(t *testing.T) {
	server, serverPool := certificate(t, "server")
	client, clientPool := certificate(t, "client")
	stranger, _ := certificate(t, "stranger")
	for _, step := range []struct {
		name string
		with []tls.Certificate
		ok   bool
	}{{"a known one", []tls.Certificate{client}, true}, {"none", nil, false}, {"a strange one", []tls.Certificate{stranger}, false}} {
		w := newWorld(t, basic, rls.Options{})
		config := &tls.Config{ServerName: "localhost", RootCAs: serverPool, Certificates: step.with, MinVersion: tls.VersionTLS12}
		w.serve(t, rls.New(rls.Options{Engine: w.engine}), rls.ServerOptions{
			MaxMessage: 1 << 20, MaxStreams: 10,
			TLS: &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: clientPool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
		}, grpc.WithTransportCredentials(credentials.NewTLS(config)))
		_, err := w.client.ShouldRateLimit(context.Background(), request("d", d("user=ann")))
		if (err == nil) != step.ok {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}
