package postgres

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-limiter/sluice"
	sluicegoredis "github.com/sluice-limiter/sluice/contrib/goredis"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/sqllimit"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// Limits of the whole fleet.
const (
	services       = 5
	fleetInFlight  = 8
	fleetPerSecond = 200
	fleetBurst     = 20
)

// service is one of the fleet: it has its own client of Redis, its own limits and its own
// database handle, and shares nothing with the others but the key of the database.
func (s *server) service(t *testing.T, redisAddr string) (*sql.DB, *sluice.KeyedConcurrency) {
	t.Helper()
	shared := redisStore(t, redisAddr)
	inFlight := sluice.NewKeyedConcurrency(fleetInFlight, shared, 30*time.Second)
	rate := sluice.NewKeyed(sluice.PerSecond(fleetPerSecond).WithBurst(fleetBurst), sluice.WithStore(shared))
	db := open(t, sqllimit.Wrap(s.connector(t, "guarded"),
		sqllimit.WithKeyedConcurrency(inFlight, "primary"),
		sqllimit.WithKeyed(rate, "primary"),
		sqllimit.WithMaxWait(time.Minute),
	))
	db.SetMaxOpenConns(18)
	db.SetMaxIdleConns(18)
	return db, inFlight
}

func redisStore(t *testing.T, addr string) store.Store {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	scripter, err := sluicegoredis.New(client)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := redisstore.New(scripter)
	if err != nil {
		t.Fatal(err)
	}
	return shared
}

// testFleet: however many services there are, together they never have more in flight and
// never run more statements than the one limit in Redis admits; and not much less.
func testFleet(t *testing.T, s *server) {
	addr := redistest.Start(t).Addr()
	direct := open(t, s.connector(t, "direct"))
	if _, err := direct.Exec("CREATE SEQUENCE fleet CACHE 1"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	watched := s.watch(t, ctx)
	begin := time.Now()
	var all sync.WaitGroup
	var inFlight *sluice.KeyedConcurrency
	for range services {
		var db *sql.DB
		db, inFlight = s.service(t, addr)
		for range goroutines / services {
			all.Go(func() {
				for ctx.Err() == nil {
					if err := fleetWork(ctx, db); err != nil && ctx.Err() == nil && !errors.Is(err, sluice.ErrLimited) {
						t.Error(err)
					}
				}
			})
		}
	}
	counted := wantCounted(t, ctx, direct, begin)
	all.Wait()
	seen := <-watched
	t.Logf("%d services: %d statements in 4 s at %d/s, at most %d in flight", services, counted, fleetPerSecond, seen.peak)
	if seen.peak > fleetInFlight || seen.peak < 2 {
		t.Errorf("at most %d at the same time, want up to %d", seen.peak, fleetInFlight)
	}
	if counted < 2*fleetPerSecond {
		t.Errorf("%d statements in 4 s: the guards let too little through", counted)
	}
	// Rollbacks happen in the background, and what was asked for and given up is released
	// twice: long before a permit expires.
	for give := time.Now().Add(15 * time.Second); time.Now().Before(give); {
		if n, err := inFlight.InFlight(t.Context(), "primary"); n == 0 && err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("permits are left behind")
}

// fleetWork runs statements that count themselves, alone or in a transaction, and take
// long enough for both limits to bind.
func fleetWork(ctx context.Context, db *sql.DB) error {
	const count = "SELECT nextval('fleet') FROM pg_sleep(0.02)"
	var n int
	if rand.IntN(4) > 0 {
		return db.QueryRowContext(ctx, count).Scan(&n)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, count).Scan(&n)
	return errors.Join(err, tx.Rollback())
}

// wantCounted compares what the server has counted with what the rate admits, all the time.
func wantCounted(t *testing.T, ctx context.Context, direct *sql.DB, begin time.Time) (counted int64) {
	t.Helper()
	for ctx.Err() == nil {
		if err := direct.QueryRow("SELECT last_value FROM fleet").Scan(&counted); err != nil {
			t.Error(err)
		}
		elapsed := time.Since(begin) // after the answer, so that it is no less than the server's
		if allowed := fleetBurst + int64(elapsed.Seconds()*fleetPerSecond) + 1; counted > allowed {
			t.Errorf("after %v the server counts %d, allowed are %d", elapsed, counted, allowed)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return counted
}
