package app_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestEnvoyConnections: who sends nothing at the door for Envoy, or shows a wrong token,
// gives way to others; Envoy keeps its place.
func TestEnvoyConnections(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, ask := startEnvoy(t, map[string]string{"tokens.file": name, "limits.connections": "2"})
	known := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	if _, err := ask(known, "ann"); err != nil {
		t.Fatal(err)
	}
	for range 10 { // only one place is left for them
		c, err := net.Dial("tcp", r.DoorAddr("grpc").String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	tells := func(line string) bool {
		_, text := r.do("GET", "/metrics", "", "Authorization", "Bearer "+token)
		return strings.Contains(text, "\n"+line+"\n")
	}
	eventually(t, "all but the last give way", func() bool { return tells("sluice_connections_dropped_total 9") })
	if _, err := ask(known, "ann"); err != nil || !tells("sluice_connections_dropped_total 9") { // else it came again
		t.Errorf("Envoy has lost its place: %v", err)
	}
	if !tells("sluice_connections_limit 4") { // two here, two at the API
		t.Error("the places of the two listeners are not told")
	}
}

// TestEnvoyInFlight: the doors share their places in flight.
func TestEnvoyInFlight(t *testing.T) {
	r, _, ask := startEnvoy(t, map[string]string{"limits.in_flight": "1"})
	leave := r.Occupy(1)
	if _, err := ask(context.Background(), "ann"); status.Code(err) != codes.Unavailable {
		t.Errorf("no place is free: %v", err)
	}
	leave()
	if _, err := ask(context.Background(), "ann"); err != nil {
		t.Error(err)
	}
	if line := r.metric("sluice_shed_requests_total"); !strings.HasSuffix(line, " 1") {
		t.Error(line)
	}
}
