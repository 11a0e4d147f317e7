package storetest

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

func openModel(_ testing.TB, now func() time.Time) store.Store { return algotest.NewModel(now) }

// TestModelPasses runs the suite on the reference.
func TestModelPasses(t *testing.T) { Run(t, openModel) }

// TestRecorderStops: a fatal complaint ends the part, not the test.
func TestRecorderStops(t *testing.T) {
	r := record(t, func(t testing.TB) {
		t.Fatalf("stop %d", 1)
		t.Errorf("not reached")
	})
	if !r.Failed() || r.first != "stop 1" {
		t.Errorf("recorded %q", r.first)
	}
}
