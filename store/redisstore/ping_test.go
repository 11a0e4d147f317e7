package redisstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestPing: a server that lets us write is well, one that is full or read-only is
// not, and what was written is nobody else's and goes away.
func TestPing(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s, ctx := open(t, c), context.Background()
	ping := func() error { return s.Ping(ctx) }
	for range 3 {
		if err := ping(); err != nil {
			t.Error(err)
		}
	}
	do(t, c, "CONFIG", "SET", "maxmemory", "1")
	if err := ping(); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("full: error %v", err)
	}
	do(t, c, "CONFIG", "SET", "maxmemory", "0")
	do(t, c, "REPLICAOF", "127.0.0.1", "1")
	if err := ping(); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("read-only: error %v", err)
	}
	do(t, c, "REPLICAOF", "NO", "ONE")
	still := open(t, c, redisstore.WithClock(time.Now)) // its keys live longer
	if err := still.Ping(ctx); err != nil {
		t.Error(err)
	}
	for _, key := range allKeys(t, c) {
		if !strings.Contains(key, redisstore.Pings) {
			t.Errorf("it wrote %q", key)
		}
	}
	wantLifetimes(t, c)
}

// TestCrossSlot: a store that was not told of the cluster says what to do.
func TestCrossSlot(t *testing.T) {
	server := errors.New("CROSSSLOT Keys in request don't hash to the same slot")
	if err := redisstore.Explain(server); !errors.Is(err, redisstore.ErrCluster) || !errors.Is(err, server) {
		t.Errorf("got %v", err)
	}
	for _, other := range []error{nil, errors.New("ERR CROSSSLOT")} {
		if err := redisstore.Explain(other); err != other {
			t.Errorf("%v became %v", other, err)
		}
	}
}

// TestClockWins: with a clock of its own a store remembers no denials, in whatever
// order its options are given.
func TestClockWins(t *testing.T) {
	clock, cache := redisstore.WithClock(time.Now), redisstore.DenialCache(10, time.Second)
	nothing := fake(func() ([]int64, error) { return nil, nil })
	for _, options := range [][]redisstore.Option{{clock, cache}, {cache, clock}} {
		if redisstore.Remembers(open(t, nothing, options...)) {
			t.Error("denials are remembered by a clock that nobody knows")
		}
	}
	if !redisstore.Remembers(open(t, nothing, cache)) {
		t.Error("no denials are remembered")
	}
}
