package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// do runs a command that must not fail.
func do(t testing.TB, c *resp.Client, command ...string) any {
	t.Helper()
	answer, err := c.Do(context.Background(), command...)
	if err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	return answer
}

// allKeys are all keys of a server.
func allKeys(t testing.TB, c *resp.Client) []string {
	t.Helper()
	var keys []string
	for cursor := "0"; ; {
		page := do(t, c, "SCAN", cursor, "COUNT", "1000").([]any)
		for _, key := range page[1].([]any) {
			keys = append(keys, key.(string))
		}
		if cursor = page[0].(string); cursor == "0" {
			return keys
		}
	}
}

// wantLifetimes checks that every key of a server will expire.
func wantLifetimes(t testing.TB, c *resp.Client) {
	t.Helper()
	keys := allKeys(t, c)
	if len(keys) == 0 {
		t.Error("no keys are left to look at")
	}
	for _, key := range keys {
		if ms := do(t, c, "PTTL", key).(int64); ms == -1 {
			t.Errorf("key %q never expires", key)
		}
	}
}

// everyKind is one limit of every algorithm that keeps state.
func everyKind(t testing.TB) []*algo.Spec {
	const hour = 3600 * 1_000_000
	var specs []*algo.Spec
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 100, Period: hour, Burst: 100},
		{Kind: algo.IntervalBucket, Count: 100, Period: hour, Burst: 100},
		{Kind: algo.LeakyBucket, Count: 100, Period: hour, Burst: 99},
		{Kind: algo.WarmUp, Count: 100, Period: hour, Warm: hour, Cold: 3},
		{Kind: algo.FixedWindow, Count: 100, Period: hour},
		{Kind: algo.FixedWindow, Count: 100, Period: hour, FirstHit: true},
		{Kind: algo.SlidingWindow, Count: 100, Period: hour, Sub: 10},
		{Kind: algo.SlidingWindow, Count: 100, Period: hour, Sub: 1},
		{Kind: algo.WeightedWindow, Count: 100, Period: hour},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 100, Period: hour}}},
	} {
		specs = append(specs, mustCompile(t, def))
	}
	return specs
}

// TestLifetimeFollowsFromState: by the clock of the server a key lives until nothing
// that was spent counts any more and five seconds; buckets, whose end moves, live as
// long again. A log lives no longer than it counts.
func TestLifetimeFollowsFromState(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	for i, p := range everyKind(t) {
		checks := []store.Check{{Key: fmt.Sprint("k", i), Spec: p, Cost: 7}}
		if err := s.Take(context.Background(), store.Spend, checks); err != nil {
			t.Fatal(err)
		}
		lives := do(t, c, "PTTL", redisstore.StateKey(s, &checks[0])).(int64)
		reset := p.ResetAfter(checks[0].Verdict)
		if p.Kind == algo.WarmUp {
			reset += p.Warm // until it is cold again
		}
		late := time.Now().UnixMicro() - checks[0].Now
		want := reset/1000 + 5000
		switch {
		case p.Kind == algo.SlidingLog:
			want = reset/1000 + 2
		case p.Kind < algo.FixedWindow:
			want += reset / 1000
		}
		if most := want + 3; lives > most || lives < 1 || p.Kind != algo.WarmUp && lives < want-late/1000-2 {
			t.Errorf("limit %d lives %d ms, is reset after %d µs", i, lives, reset)
		}
	}
}

// TestLifetimeIsNotShort: whatever is spent and given back, and by however many limits
// of the key, it lives a second longer than its states count at least, and a log two
// milliseconds, since its life begins with the script and is rounded down.
func TestLifetimeIsNotShort(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s, specs, seed := open(t, c), everyKind(t), algotest.Seed(t, 0)
	specs = append(specs, mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1000, Period: 1e6, Burst: 10_000}))
	millis := func() int64 {
		now := do(t, c, "TIME").([]any)
		seconds, err1 := strconv.ParseInt(now[0].(string), 10, 64)
		micros, err2 := strconv.ParseInt(now[1].(string), 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		return seconds*1000 + micros/1000
	}
	for n := range uint64(algotest.Rounds(400, 20_000)) {
		r := algotest.Rand(seed, n)
		p, more := algotest.Pick(r, specs), int64(1000)
		if p.Kind == algo.SlidingLog {
			more = 2
		}
		check := store.Check{Key: fmt.Sprint("k", n/20), Spec: p, Cost: 1 + r.Int64N(5)}
		if r.IntN(4) == 0 {
			take(t, s, store.Refund, check)
		}
		before := millis()
		v := take(t, s, store.Spend, check)[0].Verdict
		lives := max(0, do(t, c, "PTTL", redisstore.StateKey(s, &check)).(int64))
		if gone := millis() - before; v.Allowed && lives < p.ResetAfter(v)/1000+more-gone {
			t.Fatalf("seed %d, round %d: %s lives %d ms at most %d ms after the decision, counts for %d µs",
				seed, n, algotest.KindName(p.Kind), lives, gone, p.ResetAfter(v))
		}
	}
}

// TestLifetimeOfReservations: they live as long as the longest is held.
func TestLifetimeOfReservations(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	p := everyKind(t)[0]
	check := store.Check{Key: "k", Spec: p, Cost: 1, ID: "long", Hold: 1e9}
	for _, hold := range []int64{1e9, 1e6} {
		check.ID, check.Hold = fmt.Sprint(hold), hold
		if err := s.Take(context.Background(), store.Reserve, []store.Check{check}); err != nil {
			t.Fatal(err)
		}
	}
	if lives := do(t, c, "PTTL", redisstore.BookKey(s, &check)).(int64); lives < 900_000 || lives > 1_000_002 {
		t.Errorf("the reservations live %d ms, the longest is held for a million", lives)
	}
}

// TestBookGoesWithTheLast: what was given back is counted while somebody reserves,
// and no longer, whichever operation gives back.
func TestBookGoesWithTheLast(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	check := store.Check{Key: "k", Spec: everyKind(t)[0], Cost: 1, Hold: 1e9}
	exists := func() int64 { return do(t, c, "EXISTS", redisstore.BookKey(s, &check)).(int64) }
	do1 := func(op store.Op, id string, cost int64) {
		check.ID, check.Cost = id, cost
		take(t, s, op, check)
	}
	do1(store.Spend, "", 3)
	do1(store.Refund, "", 1)
	if exists() != 0 {
		t.Error("a refund without reservations is counted")
	}
	do1(store.Reserve, "a", 1)
	do1(store.Reserve, "b", 1)
	do1(store.Commit, "a", 0) // moves b
	do1(store.Refund, "", 1)
	if lives := do(t, c, "PTTL", redisstore.BookKey(s, &check)).(int64); lives < 900_000 {
		t.Errorf("the book lives %d ms, b is held for a million", lives)
	}
	do1(store.Commit, "b", 1)
	if exists() != 0 {
		t.Error("the book is there after the last commit")
	}
	do1(store.Reserve, "c", 1)
	do1(store.Reserve, "d", 1)
	both := []store.Check{check, check}
	both[0].ID, both[0].Cost, both[1].Cost = "c", 0, 0
	take(t, s, store.Commit, both...)
	if exists() != 0 {
		t.Error("the book is there after both were settled at once")
	}
}

// TestBytesPerKey: a token bucket of a 16-byte key is small.
func TestBytesPerKey(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	checks := []store.Check{{Key: "user:01234567890", Spec: everyKind(t)[0], Cost: 1}}
	if err := s.Take(context.Background(), store.Spend, checks); err != nil {
		t.Fatal(err)
	}
	bytes := do(t, c, "MEMORY", "USAGE", redisstore.StateKey(s, &checks[0])).(int64)
	t.Logf("%d bytes", bytes)
	if bytes > 165 {
		t.Errorf("%d bytes, want at most 165", bytes)
	}
}

var rangeCalls = regexp.MustCompile(`cmdstat_getrange:calls=(\d+)`)

// TestLongLog: a decision reads little of a long log, and writes little.
func TestLongLog(t *testing.T) {
	c := dial(t, redistest.Start(t))
	now := time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)
	s := open(t, c, redisstore.WithClock(func() time.Time { return now }))
	p := mustCompile(t, algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 30_000, Period: 3600e6}, {Count: 25_000, Period: 60e6}}})
	check := store.Check{Key: "k", Spec: p, Cost: 1}
	for range 20_000 / 100 {
		now = now.Add(time.Millisecond)
		var call []redisstore.Decision
		for range 100 {
			call = append(call, redisstore.Decision{Checks: []store.Check{check}})
		}
		if err := s.TakeMany(context.Background(), call); err != nil {
			t.Fatal(err)
		}
	}
	do(t, c, "CONFIG", "RESETSTAT")
	const asked = 50
	for range asked {
		now = now.Add(time.Millisecond)
		if v := take(t, s, store.Spend, check)[0].Verdict; !v.Allowed {
			t.Fatalf("got %+v", v)
		}
	}
	found := rangeCalls.FindStringSubmatch(do(t, c, "INFO", "commandstats").(string))
	calls, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if most := 25 * asked; calls > most {
		t.Errorf("%d reads for %d decisions of a log of 20,000, want at most %d", calls, asked, most)
	}
	t.Logf("%.1f reads per decision", float64(calls)/asked)
}
