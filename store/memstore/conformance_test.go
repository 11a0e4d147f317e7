package memstore_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

func TestConformance(t *testing.T) {
	algotest.Run(t, func(_ testing.TB, now func() time.Time) store.Store {
		return memstore.New(memstore.WithClock(now))
	})
}
