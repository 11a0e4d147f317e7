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
