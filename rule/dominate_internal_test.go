package rule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

// TestDominatedLimitsNeverBind: of two limits of which one is said to be pointless,
// that one never refuses what the other allows.
func TestDominatedLimitsNeverBind(t *testing.T) {
	seed := algotest.Seed(t, 0)
	pairs := 0
	for round := range algotest.Rounds(800, 100_000) {
		random := algotest.Rand(seed, uint64(round))
		limits := filledIn([]Limit{{Limit: randomLimit(random)}, {Limit: randomLimit(random)}})
		if limits[0].Algorithm == "" || !dominates(limits[0], limits[1], 0) {
			continue
		}
		pairs++
		if at, bound := binds(random, limits[0], limits[1]); bound {
			t.Fatalf("round %d: %s was said to keep %s from binding, which it did after %v", round, limits[0], limits[1], at)
		}
	}
	if pairs < 20 {
		t.Errorf("only %d pairs were tried", pairs)
	}
}

func randomLimit(random *rand.Rand) sluice.Limit {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	text := fmt.Sprintf("%s %d/%s", pick("token_bucket", "leaky_bucket", "fixed_window", "sliding_window", "sliding_log"), 1+random.IntN(30), pick("s", "2s", "3s", "5s", "10s"))
	switch text[:3] {
	case "tok":
		text += fmt.Sprintf(" burst=%d%s", 1+random.IntN(60), pick("", "", " refill=interval"))
	case "sli":
		if text[:9] == "sliding_w" {
			text += pick("", " sub_windows=1", " sub_windows=2", " weighted")
		}
	case "fix":
		text += pick("", "", " start=first_hit")
	}
	return sluice.MustParse(text)
}

// binds reports whether b refuses what a allows, in a random stream of requests that
// is often as fast as a lets it be.
func binds(random *rand.Rand, a, b sluice.Limit) (time.Duration, bool) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	clock := sluice.WithClock(func() time.Time { return now })
	strict, loose := sluice.NewLimiter(a, clock), sluice.NewLimiter(b, clock)
	for range 400 {
		cost := 1 + random.Int64N(3)
		if first := strict.Decide(cost); !first.Allowed {
			if random.IntN(4) > 0 && first.RetryAfter() > 0 {
				now = now.Add(first.RetryAfter())
				continue
			}
		} else if !loose.Decide(cost).Allowed {
			return now.Sub(start), true
		}
		if random.IntN(3) == 0 {
			now = now.Add(time.Duration(random.Int64N(int64(4 * time.Second))).Truncate(time.Duration(1 + random.IntN(2)*999_999)).Truncate(time.Microsecond))
		}
	}
	return 0, false
}

// TestCalendarsThatDominate: a day is a part of every other window of the calendar; a week
// is none of a month or a year.
func TestCalendarsThatDominate(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1/d zone=UTC", "7/w zone=UTC", true},
		{"1/d zone=UTC", "6/w zone=UTC", false},
		{"1/d zone=UTC", "366/y zone=UTC", true},
		{"1/d zone=UTC", "365/y zone=UTC", false},
		{"5/w zone=UTC", "5/w zone=UTC", true},
		{"5/w zone=UTC", "25/mo zone=UTC", false},
		{"5/w zone=Asia/Tokyo", "5/w zone=UTC", false},
	} {
		limits := filledIn([]Limit{{Limit: sluice.MustParse(c.a)}, {Limit: sluice.MustParse(c.b)}})
		if got := dominates(limits[0], limits[1], 0); got != c.want {
			t.Errorf("%s keeps %s from binding: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
