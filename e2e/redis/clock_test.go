package redis

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestServerClockDecides: the instants of decisions are the server's, whatever the
// client's clock says.
func TestServerClockDecides(t *testing.T) {
	server, p := redistest.Start(t), compile(t, quick)
	for _, c := range clients {
		s := openStore(t, c.open, standalone(server))
		before := serverTime(t, server)
		now := take(t, s, store.Spend, check(c.name, p, 1))[0].Now
		if after := serverTime(t, server); now < before || now > after {
			t.Errorf("decided at %d, the server's clock went from %d to %d", now, before, after)
		}
	}
}

func serverTime(t testing.TB, s *redistest.Server) int64 {
	t.Helper()
	parts := s.Do("TIME").([]any)
	var seconds, micros int64
	if _, err := fmt.Sscan(parts[0].(string)+" "+parts[1].(string), &seconds, &micros); err != nil {
		t.Fatal(err)
	}
	return seconds*1e6 + micros
}

// TestServerClockJumps: the clock of the server leaps by an hour or a second, in
// both directions. Nothing is ever negative, nobody is blocked for longer than the
// limit recovers, and a leap back grants nothing.
func TestServerClockJumps(t *testing.T) {
	server := redistest.Start(t)
	s := clients[0].open(t, standalone(server))
	seed := algotest.Seed(t, 0)
	for i, p := range limitsOfAllKinds(t) {
		var clock atomic.Int64
		clock.Store(1_700_000_000_000_000)
		st := newStore(t, s, target{}, redisstore.WithClock(func() time.Time { return time.UnixMicro(clock.Load()) }))
		r := algotest.Rand(seed, uint64(i))
		key := fmt.Sprint("jump ", i)
		for range 300 {
			left := remaining(t, st, key, p)
			leap := algotest.Pick(r, []int64{0, 1, 500, 1e6, -1, -1e6, 3600e6, -3600e6})
			clock.Add(leap)
			after := remaining(t, st, key, p)
			v := take(t, st, store.Spend, check(key, p, 1+r.Int64N(3)))[0].Verdict
			name := fmt.Sprintf("seed %d, %s after a leap of %d µs", seed, algotest.Describe(*p), leap)
			if left < 0 || after < 0 || p.RetryAfter(v) < 0 {
				t.Fatalf("%s: %d left, then %d, retry after %d", name, left, after, p.RetryAfter(v))
			}
			if wait := p.RetryAfter(v); wait > longest(p) {
				t.Fatalf("%s: blocked for %d µs, want at most %d", name, wait, longest(p))
			}
			if leap <= 0 && after > left {
				t.Fatalf("%s: %d left, then %d", name, left, after)
			}
		}
	}
	wantTTLs(t, server)
}

func remaining(t testing.TB, s store.Store, key string, p *algo.Spec) int64 {
	t.Helper()
	return p.Remaining(take(t, s, store.Spend, check(key, p, 0))[0].Verdict)
}

// longest is how long a limit may block somebody, in µs: until it has recovered
// from everything.
func longest(p *algo.Spec) int64 {
	switch p.Kind {
	case algo.TokenBucket, algo.IntervalBucket:
		return (p.Burst + p.Count) * p.Period / p.Count
	case algo.LeakyBucket:
		return (p.Burst + 1) * p.Period / p.Count
	case algo.WeightedWindow:
		return 2 * p.Period
	case algo.SlidingLog:
		return p.Windows[0].Period
	case algo.WarmUp:
		return 3600e6 + p.Warm // the wait is what it was before the leap
	}
	return p.Period
}

// TestSkewedClients: instances whose own clocks are a day off share one budget of
// one calendar day, and are told the same end of it. Of all that they send, only
// the days that they expect come from their own clocks.
func TestSkewedClients(t *testing.T) {
	server := redistest.Start(t)
	const day = 24 * 3600e6
	for _, c := range clients {
		s, left := openStore(t, c.open, standalone(server)), int64(100)
		for _, skew := range []int64{0, day, -day, 1e6, -1e6} {
			def := algo.Spec{Kind: algo.FixedWindow, Count: 100, Period: day}
			today := (serverTime(t, server) + skew) / day * day
			for n := range int64(4) {
				def.Bounds = append(def.Bounds, today+(n-1)*day)
			}
			p := compile(t, def)
			answer := take(t, s, store.Spend, check(c.name, p, 3))[0]
			if left -= 3; !answer.Verdict.Allowed || p.Remaining(answer.Verdict) != left {
				t.Errorf("a clock that is %d µs off: %d left, want %d", skew, p.Remaining(answer.Verdict), left)
			}
			if end := answer.Now + p.ResetAfter(answer.Verdict); end%day != 0 || end-answer.Now > day {
				t.Errorf("a clock that is %d µs off: the day ends at %d, it is %d", skew, end, answer.Now)
			}
		}
	}
}
