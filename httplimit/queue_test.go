package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestLeakyBucketBesideOthers: without Wait, a queue of some seconds never becomes one
// of hours because another limit is used up.
func TestLeakyBucketBesideOthers(t *testing.T) {
	for _, c := range []struct {
		beside string
		served int
		took   time.Duration
	}{
		{"fixed_window 3/h", 1, 0},          // takes no bookings: nobody waits
		{"3/h", 3, 2 * time.Second},         // is empty after three
		{"100/h", 6, 5 * time.Second},       // the bucket itself: one and five in its queue
		{"1/m burst=2", 2, 1 * time.Second}, // comes back long after the queue
		{"unlimited", 6, 5 * time.Second},   // is none
	} {
		synctest.Test(t, func(t *testing.T) {
			keyed := sluice.NewKeyed(sluice.MustParse("leaky_bucket 1/s burst=5"), sluice.WithLimits(sluice.MustParse(c.beside)))
			codes, took := burst(httplimit.Middleware(keyed)(served), 20)
			if codes[200] != c.served || codes[429] != 20-c.served || took != c.took {
				t.Errorf("beside %s: %v after %v, want %d after %v", c.beside, codes, took, c.served, c.took)
			}
		})
	}
}

// meddler takes a place when somebody is denied, before that one can.
type meddler struct {
	keyed *sluice.Keyed
	done  bool
}

func (m *meddler) Observe(key string, _ int64, d sluice.Decision) {
	if !d.Allowed && !m.done {
		m.done = true
		_, _ = m.keyed.Reserve(context.Background(), key, 1)
	}
}

// TestLastTokenIsTakenMeanwhile: who was to wait a second for a leaky bucket does not
// wait half an hour, because somebody else has taken the last token beside it.
func TestLastTokenIsTakenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &meddler{}
		m.keyed = sluice.NewKeyed(sluice.MustParse("leaky_bucket 1/s burst=5"), sluice.WithLimits(sluice.PerHour(2)), sluice.WithObserver(m))
		h := spent(t, httplimit.Middleware(m.keyed)(served))
		begin := time.Now()
		wantStatus(t, "second", serve(h, request("192.0.2.1:1")), http.StatusTooManyRequests)
		if took := time.Since(begin); took != 0 || !m.done {
			t.Errorf("refused after %v", took)
		}
	})
}

// TestOneKeyCannotTakeAllPlaces: of one client, only as many wait as can be admitted in
// that time, so that others still can.
func TestOneKeyCannotTakeAllPlaces(t *testing.T) {
	for _, limit := range []string{"fixed_window 5/m", "sliding_log 5/m", "sliding_window 5/m", "5/m"} {
		synctest.Test(t, func(t *testing.T) {
			h := httplimit.ByIP(sluice.MustParse(limit), httplimit.Wait(time.Minute), httplimit.MaxWaiters(100))(served)
			burst(h, 5)
			time.Sleep(time.Second) // else the wait ends in the very moment in which it has led to something
			var all sync.WaitGroup
			var mu sync.Mutex
			var refused int
			for range 200 {
				all.Go(func() {
					begin := time.Now()
					if code := serve(h, request("192.0.2.1:1")).StatusCode; code == 429 && time.Since(begin) == 0 {
						mu.Lock()
						defer mu.Unlock()
						refused++
					}
				})
			}
			synctest.Wait()
			if refused != 195 {
				t.Errorf("%s: %d of 200 refused at once, want 195: five can be admitted within the minute", limit, refused)
			}
			for range 5 {
				serve(h, request("192.0.2.2:1"))
			}
			time.Sleep(time.Second)
			begin := time.Now()
			wantStatus(t, limit+", another client", serve(h, request("192.0.2.2:1")), http.StatusOK)
			if time.Since(begin) == 0 {
				t.Error("it did not wait")
			}
			all.Wait()
		})
	}
}

// TestAShareOfThePlaces: one client can fill a quarter of the places, also where it could
// be admitted more often in that time, and all clients together all of them.
func TestAShareOfThePlaces(t *testing.T) {
	for _, limit := range []string{"1/s", "fixed_window 1/s", "leaky_bucket 1/s burst=1000"} {
		synctest.Test(t, func(t *testing.T) {
			h := httplimit.ByIP(sluice.MustParse(limit), httplimit.Wait(time.Hour), httplimit.MaxWaiters(20))(served)
			ctx, leave := context.WithCancel(t.Context())
			var waiting atomic.Int64
			for client := range 6 {
				for range 10 {
					go func() {
						waiting.Add(1)
						defer waiting.Add(-1)
						serve(h, request(fmt.Sprintf("192.0.2.%d:1", client)).WithContext(ctx))
					}()
				}
				synctest.Wait()
				if want := int64(5 * min(client+1, 4)); waiting.Load() != want {
					t.Errorf("%s: %d wait after client %d, want %d", limit, waiting.Load(), client, want)
				}
			}
			leave()
			synctest.Wait()
			if waiting.Load() != 0 {
				t.Errorf("%s: %d wait after all have left", limit, waiting.Load())
			}
			begin := time.Now()
			for range 2 {
				wantStatus(t, limit+", later", serve(h, request("192.0.2.9:1")), http.StatusOK)
			}
			if time.Since(begin) == 0 {
				t.Errorf("%s: no place is free again", limit)
			}
		})
	}
}

// TestNobodyOvertakes: who comes while others of its key wait for a window stands behind
// them, also if there would be enough for it alone.
func TestNobodyOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := httplimit.CostBy(func(r *http.Request) int64 {
			n, err := strconv.ParseInt(r.Header.Get("X-Cost"), 10, 64)
			if err != nil {
				return 1
			}
			return n
		})
		h := spent(t, httplimit.ByIP(sluice.MustParse("fixed_window 2/10s"), httplimit.Wait(time.Minute), cost)(served))
		begin := time.Now()
		var all sync.WaitGroup
		for i, c := range []struct {
			cost int
			want time.Duration
		}{{2, 10 * time.Second}, {1, 20 * time.Second}, {1, 20 * time.Second}} {
			all.Go(func() {
				res := serve(h, request("192.0.2.1:1", "X-Cost", fmt.Sprint(c.cost)))
				if took := time.Since(begin); took != c.want || res.StatusCode != http.StatusOK || res.Header.Get("RateLimit") == "" {
					t.Errorf("request %d: status %d after %v, want 200 after %v", i, res.StatusCode, took, c.want)
				}
			})
			synctest.Wait()
		}
		for cost, want := range map[string]int{"3": 429, "-1": 429, "0": 200} { // these do not queue
			at := time.Now()
			wantStatus(t, "cost "+cost, serve(h, request("192.0.2.1:1", "X-Cost", cost)), want)
			if time.Since(at) != 0 {
				t.Errorf("cost %s: held", cost)
			}
		}
		all.Wait()
	})
}

// slow is a store that gives up by itself now and then.
type slow struct {
	store.Store
	fails func() bool
}

func (s slow) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if s.fails() {
		return fmt.Errorf("redis: %w", context.DeadlineExceeded)
	}
	return s.Store.Take(ctx, op, checks)
}

// TestStoreTimeoutIsNoLimit: a store that gives up is not a client that waited in vain.
func TestStoreTimeoutIsNoLimit(t *testing.T) {
	calls := 0
	keyed := sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(slow{memstore.New(), func() bool {
		calls++
		return calls > 2 // the first request and the denial of the second
	}}))
	var reported error
	h := spent(t, httplimit.Middleware(keyed, httplimit.Wait(time.Hour), httplimit.OnError(func(w http.ResponseWriter, _ *http.Request, err error) bool {
		reported = err
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	}))(served))
	wantStatus(t, "store gave up", serve(h, request("192.0.2.1:1")), http.StatusServiceUnavailable)
	if !errors.Is(reported, context.DeadlineExceeded) {
		t.Errorf("OnError got %v", reported)
	}

	down := sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(slow{memstore.New(), func() bool { return true }}))
	for _, opts := range [][]httplimit.TransportOption{{httplimit.PerHost(down)}, {httplimit.PerHost(down), httplimit.Wait(time.Hour)}} {
		_, err := call(t, t.Context(), httplimit.Transport(replies(200), opts...), "http://a.example/")
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sluice.ErrLimited) {
			t.Errorf("transport: %v", err)
		}
	}
}
