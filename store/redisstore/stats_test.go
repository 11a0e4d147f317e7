package redisstore_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestStats: what is answered out of remembered denials is counted, and nothing else.
func TestStats(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s, err := redisstore.New(c, redisstore.DenialCache(16, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	spec := denialSpec(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 3600e6, Burst: 1})
	spend := func() { take(t, s, store.Spend, store.Check{Key: "ann", Spec: spec, Cost: 1}) }
	spend() // allowed
	spend() // denied by the server
	if hits := s.Stats().DenialHits; hits != 0 {
		t.Errorf("%d hits before anything could be remembered", hits)
	}
	for range 5 {
		spend()
	}
	take(t, s, store.Refund, store.Check{Key: "ann", Spec: spec, Cost: 1}) // forgets it
	spend()
	if hits := s.Stats().DenialHits; hits != 5 {
		t.Errorf("%d hits, want 5", hits)
	}
}
