package redisstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/storetest"
)

// dial connects to a server for the time of a test.
func dial(t testing.TB, addr string) *resp.Client {
	t.Helper()
	c, err := resp.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// open makes a store that must be made.
func open(t testing.TB, s redisstore.Scripter, options ...redisstore.Option) *redisstore.Store {
	t.Helper()
	st, err := redisstore.New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// serial numbers prefixes.
var serial atomic.Int64

// fresh returns a function that makes empty stores on one server: each has a
// prefix of its own.
func fresh(c redisstore.Scripter, options ...redisstore.Option) storetest.Open {
	return func(t testing.TB, now func() time.Time) store.Store {
		prefix := redisstore.Prefix(fmt.Sprint("test", serial.Add(1)))
		return open(t, c, append(options, prefix, redisstore.WithClock(now))...)
	}
}

func TestConformance(t *testing.T) {
	c := dial(t, redistest.Start(t))
	storetest.Run(t, fresh(c), steps)
}

// steps is how many decisions per algorithm are compared with the model.
var steps = storetest.Steps(algotest.Rounds(3000, 1_000_000))
