package sluicegrpc_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
)

// What a client calls is what the target names, however that is written.
func TestTargets(t *testing.T) {
	var host string
	limit := sluicegrpc.Keyed(sluice.NewKeyed(sluice.PerSecond(0)), func(_ context.Context, r *engine.Request) string {
		host = r.Host
		return "all"
	})
	for target, want := range map[string]string{
		"api.example.com:443":                "api.example.com:443",
		"dns:api.example.com:443":            "api.example.com:443",
		"dns:///API.example.com:443":         "api.example.com:443",
		"dns://8.8.8.8/api.example.com:443":  "api.example.com:443",
		"passthrough:///api.example.com:443": "api.example.com:443",
		"passthrough:api.example.com:443":    "api.example.com:443",
		"unix:/a/S.sock":                     "/a/S.sock",
		"unix:///b/s.sock":                   "/b/s.sock",
		"unix:s.sock":                        "/s.sock",
		"unix-abstract:name":                 "@name",
	} {
		cc, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(limit.UnaryClient))
		if err != nil {
			t.Fatal(err)
		}
		host = ""
		if err := cc.Invoke(t.Context(), "/a/b", nil, nil); !errors.Is(err, sluice.ErrLimited) || host != want {
			t.Errorf("%s: host %q, want %q (%v)", target, host, want, err)
		}
		_ = cc.Close()
	}
}

// What is nil is found when the program starts.
func TestNil(t *testing.T) {
	for want, f := range map[string]func(){
		"httplimit: Held: the Keyed is nil (make it with sluice.NewKeyed)":  func() { sluicegrpc.Keyed(nil, nil) },
		"httplimit: HeldRules: the engine is nil (make it with engine.New)": func() { sluicegrpc.Rules(nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("%v, want %s", got, want)
				}
			}()
			f()
		}()
	}
}
