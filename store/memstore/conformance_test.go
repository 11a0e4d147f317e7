package memstore_test

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(_ testing.TB, now func() time.Time) store.Store {
		return memstore.New(memstore.WithClock(now))
	}, steps)
}

// steps keeps the comparison with the model short, but for a long run.
var steps = storetest.Steps(algotest.Rounds(3000, 1_000_000))

// crowded is a store in which strangers come and go all the time: with every call
// some new keys that recover within a µs.
type crowded struct {
	*memstore.Store
	stranger *algo.Spec
	serial   atomic.Uint64
}

func (c *crowded) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	for range 2 {
		name := binary.BigEndian.AppendUint64(nil, c.serial.Add(1))
		c.TakeOne("stranger "+string(name), c.stranger, 1, new(algo.Verdict))
	}
	return c.Store.Take(ctx, op, checks)
}

// TestConformanceInACrowd: the table grows and evicts all the time, and no
// decision is different for that.
func TestConformanceInACrowd(t *testing.T) {
	stranger, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1, Burst: 1, Ordinal: 77})
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]memstore.Option{
		"keys":  memstore.MaxKeys(4000),
		"bytes": memstore.MaxBytes(1),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(_ testing.TB, now func() time.Time) store.Store {
				return &crowded{Store: memstore.New(memstore.WithClock(now), option), stranger: stranger}
			}, storetest.Steps(0)) // the comparison takes the clock back, where strangers are in deficit
		})
	}
}
