package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test run this program inside a database of its own.
func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_PROBE_INSIDE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestPostgres: four connections whose statements take at least 10 ms cannot do more than
// 400 a second. How much less they do is up to the machine.
func TestPostgres(t *testing.T) {
	const most = 400
	cmd := exec.CommandContext(t.Context(), "pg_virtualenv", "env", "-u", "PGSYSCONFDIR", "PGSSLMODE=disable", "SLUICE_PROBE_INSIDE=1",
		os.Args[0], "-query", "SELECT pg_sleep(0.01)", "-connections", "4", "-within", "1s", "-hold", "2s", "-repeats", "1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v (is the package postgresql there? `make deps` installs it)\n%s", err, out)
	}
	t.Logf("%s", out)
	var capacity, low, high float64
	for line := range strings.Lines(string(out)) {
		if _, err := fmt.Sscanf(line, "%f statements/s over 4 connections (%f to %f)", &capacity, &low, &high); err == nil {
			break
		}
	}
	// A queue that grows by half of the rate passes a second after two of them.
	if capacity <= 0 || capacity > 1.6*most || low > capacity || capacity > high || !strings.Contains(string(out), "sqllimit.WithLimit(sluice.PerSecond(") {
		t.Errorf("%v (%v to %v) of at most %d\n%s", capacity, low, high, most, out)
	}
}
