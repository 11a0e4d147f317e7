package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// library is what a Go program does without the server: the same two limits over the
// same Redis.
type library struct {
	keyed *sluice.Keyed
	close func()
}

func openLibrary(redis string) (*library, error) {
	client, err := sluicerueidis.Open(rueidis.ClientOption{InitAddress: []string{redis}})
	if err != nil {
		return nil, err
	}
	s, err := redisstore.New(client, redisstore.Prefix("library"))
	if err != nil {
		client.Close()
		return nil, err
	}
	keyed := sluice.NewKeyed(sluice.PerSecond(1_000_000_000), sluice.WithStore(s), sluice.WithLimits(sluice.PerDay(1_000_000_000_000)))
	return &library{keyed, client.Close}, nil
}

// run decides from so many goroutines for a while.
func (l *library) run(callers int, length time.Duration) (*round, error) {
	var over atomic.Bool
	defer time.AfterFunc(length, func() { over.Store(true) }).Stop()
	latencies, failed := make([][]time.Duration, callers), make([]int, callers)
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("k-%06d", i)
	}
	var all sync.WaitGroup
	begin := time.Now()
	for i := range callers {
		all.Go(func() {
			for n := i; !over.Load(); n += callers {
				start := time.Now()
				if d, err := l.keyed.Allow(context.Background(), names[n%keys]); err != nil || !d.Allowed {
					failed[i]++
					continue
				}
				latencies[i] = append(latencies[i], time.Since(start))
			}
		})
	}
	all.Wait()
	r := &round{took: time.Since(begin), latencies: slices.Concat(latencies...)}
	r.requests = len(r.latencies)
	for _, n := range failed {
		r.errors += n
	}
	slices.Sort(r.latencies)
	return r, nil
}
