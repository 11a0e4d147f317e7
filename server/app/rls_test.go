package app_test

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice/server/config"
	"github.com/sluice-limiter/sluice/server/envoy"
)

const descriptors = `
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: hour, requests_per_unit: 2}
`

// startEnvoy runs a server with descriptors, and connects to it.
func startEnvoy(t *testing.T, flags map[string]string) (*running, string, func(ctx context.Context, user string) (*pb.RateLimitResponse, error)) {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, descriptors)
	all := map[string]string{"grpc.listen": "127.0.0.1:0", "envoy.config": folder}
	for name, value := range flags {
		all[name] = value
	}
	r := start(t, config.Sources{Flags: all})
	conn, err := grpc.NewClient(r.DoorAddr("grpc").String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return r, folder, func(ctx context.Context, user string) (*pb.RateLimitResponse, error) {
		return pb.NewRateLimitServiceClient(conn).ShouldRateLimit(ctx, &pb.RateLimitRequest{Domain: "shop", Descriptors: []*ratelimitv3.RateLimitDescriptor{{
			Entries: []*ratelimitv3.RateLimitDescriptor_Entry{{Key: "user", Value: user}},
		}}})
	}
}

// write replaces the file of descriptors at once.
func write(t *testing.T, folder, text string) {
	t.Helper()
	f := &file{t, filepath.Join(folder, "shop.yaml")}
	f.write(text)
}

// TestEnvoyRollback: descriptors go back together with the rules that are made of them.
func TestEnvoyRollback(t *testing.T) {
	r, folder, ask := startEnvoy(t, nil)
	write(t, folder, strings.ReplaceAll(descriptors, "key: user", "key: plan"))
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	limited := func() bool {
		t.Helper()
		answer, err := ask(context.Background(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetStatuses()[0].GetCurrentLimit() != nil
	}
	if limited() {
		t.Error("there is no limit for users any more")
	}
	if _, err := r.Rollback(context.Background(), "test"); err != nil || !limited() {
		t.Errorf("after a rollback, %v, the limit does not hold again", err)
	}
	if got, want := r.DescriptorStamp(), envoy.Stamp(folder); got != want { // else it would hold for a second
		t.Errorf("after a rollback the files look changed: %q, %q", got, want)
	}
}

func TestEnvoyReload(t *testing.T) {
	r, folder, ask := startEnvoy(t, nil)
	remaining := func(user string) uint32 {
		answer, err := ask(context.Background(), user)
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetStatuses()[0].GetLimitRemaining()
	}
	if left := remaining("ann"); left != 1 {
		t.Errorf("%d left of 2", left)
	}
	write(t, folder, "domain: shop\ndescriptors: [broken\n")
	eventually(t, "the mistake is counted", func() bool {
		return strings.HasSuffix(r.metric(`sluice_reloads_total{outcome="failure"}`), " 1")
	})
	if left := remaining("bob"); left != 1 {
		t.Errorf("after a mistake %d are left of 2", left)
	}
	write(t, folder, strings.ReplaceAll(descriptors, "requests_per_unit: 2", "requests_per_unit: 10"))
	eventually(t, "the new limit holds", func() bool { return remaining("cid") > 2 })
	if left := remaining("ann"); left != 8 { // what was spent stays spent
		t.Errorf("%d are left of 10 after two", left)
	}
}

func TestEnvoyBesidesTheAPI(t *testing.T) {
	r, folder, _ := startEnvoy(t, nil)
	body := `{"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"ann"}]}]}`
	for i, want := range []int{200, 200, 429} {
		if response, text := r.do("POST", "/json", body); response.StatusCode != want {
			t.Errorf("request %d: %d %s", i, response.StatusCode, text)
		}
	}
	if response, text := r.do("GET", "/healthcheck", ""); response.StatusCode != 200 || text != "OK" {
		t.Errorf("healthcheck: %d %s", response.StatusCode, text)
	}
	if _, text := r.do("GET", "/v1/rules", ""); !strings.Contains(text, "envoy/shop.user") || strings.Contains(text, "login") || !strings.Contains(text, `"source":"`+folder) {
		t.Errorf("rules: %s", text)
	}
	if line := r.metric(`sluice_decisions_total{outcome="denied",rule="envoy/shop.user"}`); !strings.HasSuffix(line, " 1") {
		t.Errorf("metric: %q", line)
	}
	plain := start(t, config.Sources{})
	if response, _ := plain.do("POST", "/json", body); response.StatusCode != 404 {
		t.Errorf("without the service: %d", response.StatusCode)
	}
}

func TestEnvoyTokens(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, ask := startEnvoy(t, map[string]string{"tokens.file": name})
	if _, err := ask(context.Background(), "ann"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without a token: %v", err)
	}
	if _, err := ask(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer 0123456789abcdef"), "ann"); err != nil {
		t.Error(err)
	}
	body := `{"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"bob"}]}]}`
	if response, _ := r.do("POST", "/json", body); response.StatusCode != 401 {
		t.Errorf("JSON without a token: %d", response.StatusCode)
	}
	if response, text := r.do("POST", "/json", body, "Authorization", "Bearer 0123456789abcdef"); response.StatusCode != 200 {
		t.Errorf("JSON with a token: %d %s", response.StatusCode, text)
	}
	_, _, trusting := startEnvoy(t, map[string]string{"tokens.file": name, "grpc.trusted": "true"})
	if _, err := trusting(context.Background(), "ann"); err != nil {
		t.Errorf("a network that is trusted: %v", err)
	}
}

func TestEnvoyJSONIsNotForPages(t *testing.T) {
	r, _, _ := startEnvoy(t, nil)
	body := `{"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"ann"}]}]}`
	if response, _ := r.do("POST", "/json", body, "Sec-Fetch-Site", "cross-site"); response.StatusCode != 403 {
		t.Errorf("a foreign page: %d", response.StatusCode)
	}
}

func TestEnvoyAddresses(t *testing.T) {
	for name, flags := range map[string]map[string]string{
		"open":                {"grpc.listen": "0.0.0.0:0"},
		"tokens without TLS":  {"grpc.listen": "0.0.0.0:0", "tokens.env": "T"},
		"certificates no TLS": {"grpc.listen": "0.0.0.0:0", "grpc.client_ca": "ca.pem"},
		"no address":          {"grpc.listen": "here"},
		"two headers":         {"grpc.headers": "A,B"},
		"no zone":             {"envoy.zone": "Nowhere"},
		"no folder":           {"envoy.config": "/does/not/exist"},
	} {
		if _, err := (config.Sources{Flags: flags, Env: func(name string) (string, bool) { return "0123456789abcdef", name == "T" }}).Load(); err == nil {
			t.Errorf("%s: accepted", name)
		} else if name == "open" && !strings.Contains(err.Error(), "grpc.trusted") {
			t.Errorf("%s: no hint: %v", name, err)
		}
	}
	loaded, err := config.Sources{Flags: map[string]string{"grpc.listen": "0.0.0.0:0", "grpc.trusted": "true"}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Config.GRPCAddress(); got != "0.0.0.0:0" {
		t.Error(got)
	}
	only := config.Config{Envoy: config.Envoy{Config: "x"}}
	if got := only.GRPCAddress(); got != config.DefaultGRPC {
		t.Errorf("descriptors alone listen on %q", got)
	}
}

func TestEnvoyClientCertificates(t *testing.T) {
	dir := t.TempDir()
	cert, key, ca := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")
	writePair(t, cert, key, "server")
	flags := map[string]string{"grpc.listen": "127.0.0.1:0", "grpc.client_ca": ca, "tls.cert": cert, "tls.key": key}
	for _, step := range []struct{ text, says string }{{"", "no such file"}, {"no certificate", "PEM"}} {
		if step.text != "" {
			if err := os.WriteFile(ca, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := open(t, config.Sources{Flags: flags}); err == nil || !strings.Contains(err.Error(), step.says) || !strings.Contains(err.Error(), "grpc.client_ca") {
			t.Errorf("%q: %v", step.text, err)
		}
	}
	flags["grpc.client_ca"] = cert // any that is one
	r := start(t, config.Sources{Flags: flags})
	conn, err := grpc.NewClient(r.DoorAddr("grpc").String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := pb.NewRateLimitServiceClient(conn).ShouldRateLimit(context.Background(), &pb.RateLimitRequest{Domain: "shop"}); status.Code(err) != codes.Unavailable {
		t.Errorf("a client without a certificate: %v", err)
	}
}
