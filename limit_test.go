package sluice_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

func TestConstructors(t *testing.T) {
	for _, c := range []struct {
		limit sluice.Limit
		want  string
	}{
		{sluice.Per(5, 10*second), "5/10s"},
		{sluice.PerSecond(5), "5/s"},
		{sluice.PerMinute(5), "5/m"},
		{sluice.PerHour(5), "5/h"},
		{sluice.PerDay(5), "5/d"},
		{sluice.PerMonth(5), "5/mo"},
		{sluice.Every(250 * ms), "1/250ms"},
		{sluice.Every(3 * time.Microsecond), "1/3us"},
		{sluice.Per(1, 7*24*time.Hour), "1/7d"},
		{sluice.Unlimited, "unlimited"},
		{sluice.PerSecond(0), "0/s"},
		{sluice.PerSecond(5).WithBurst(9), "5/s burst=9"},
		{sluice.PerSecond(5).WithBurst(5).With(sluice.TokenBucket), "5/s"},
		{sluice.PerSecond(5).With("gcra"), "gcra 5/s"},
		{sluice.PerSecond(5).With(sluice.LeakyBucket).WithMaxWait(90 * second), "leaky_bucket 5/s max_wait=1m30s"},
		{sluice.PerDay(5).InZone("Asia/Tokyo"), "5/d zone=Asia/Tokyo"},
		{sluice.PerMonth(5).InZone("Asia/Tokyo").WithAnchorDay(31), "5/mo zone=Asia/Tokyo anchor_day=31"},
		{sluice.Limit{Count: 5, Calendar: sluice.Day}, "5/d zone=UTC"},
		{sluice.Limit{Count: 5, Calendar: sluice.Week}, "5/w zone=UTC"},
		{sluice.Per(5, 7*24*time.Hour).InZone("Asia/Tokyo"), "5/w zone=Asia/Tokyo"},
		{sluice.Limit{Count: 5, Calendar: sluice.Year, Zone: "Asia/Tokyo"}, "5/y zone=Asia/Tokyo"},
	} {
		if err := c.limit.Validate(); err != nil {
			t.Errorf("%v: %v", c.want, err)
		}
		if got := c.limit.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestDefaults: a limiter tells what it fills in.
func TestDefaults(t *testing.T) {
	for text, want := range map[string]sluice.Limit{
		"5/s":                   {Algorithm: sluice.TokenBucket, Count: 5, Period: second, Burst: 5},
		"leaky_bucket 5/s":      {Algorithm: sluice.LeakyBucket, Count: 5, Period: second, Burst: 5},
		"warm_up 5/s warm_up=m": {Algorithm: sluice.WarmUp, Count: 5, Period: second, WarmUp: time.Minute, ColdFactor: 3},
		"sliding_window 5/s":    {Algorithm: sluice.SlidingWindow, Count: 5, Period: second, SubWindows: 10},
		"sliding_window 5/81us": {Algorithm: sluice.SlidingWindow, Count: 5, Period: 81 * time.Microsecond, SubWindows: 9},
		"5/mo":                  {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Month, AnchorDay: 1},
		"5/y":                   {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Year},
		"5/year zone=UTC":       {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Year, Zone: "UTC"},
		"5/w zone=UTC":          {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Week, Zone: "UTC"},
		"5/d zone=UTC":          {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Day, Zone: "UTC"},
	} {
		if l, _ := limiter(text); l.Limit() != want {
			t.Errorf("%s: got %+v, want %+v", text, l.Limit(), want)
		}
	}
	if got := sluice.NewLimiter(sluice.PerSecond(5).With("gcra")).Limit(); got.Algorithm != sluice.TokenBucket {
		t.Errorf("gcra is %v", got.Algorithm)
	}
}

// TestInZoneKeepsTheAlgorithm: an algorithm that cannot count a day of the
// calendar is refused, not replaced.
func TestInZoneKeepsTheAlgorithm(t *testing.T) {
	fault(t, sluice.PerDay(5).With(sluice.SlidingLog).InZone("UTC").Validate(), "calendar")
	fault(t, sluice.PerMinute(5).InZone("UTC").Validate(), "zone")
}

func TestValidateNamesEveryFault(t *testing.T) {
	per := sluice.PerSecond
	for _, c := range []struct {
		field string
		hint  string
		limit sluice.Limit
	}{
		{"algorithm", "token_bucket", per(1).With("nonsense")},
		{"algorithm", "NewConcurrency", per(1).With("concurrency")},
		{"algorithm", "others", per(1).With("adaptive")},
		{"count", "1e15", per(-1)},
		{"count", "1e15", per(math.MaxInt64)},
		{"count", "leave", sluice.Limit{Algorithm: sluice.NoLimit, Count: 1}},
		{"count", "smaller count", sluice.Per(1001, time.Microsecond)},
		{"count", "sliding_window", per(100_001).With(sluice.SlidingLog)},
		{"period", "unit", sluice.Per(1, 0)},
		{"period", "unit", sluice.Per(1, -second)},
		{"period", "microseconds", sluice.Per(1, 1500)},
		{"period", "100 years", sluice.Per(1, math.MaxInt64/1000*1000)},
		{"period", "leave", sluice.Limit{Count: 1, Calendar: sluice.Day, Period: second}},
		{"burst", "1e15", per(1).WithBurst(-1)},
		{"burst", "1e15", per(1).WithBurst(math.MaxInt64)},
		{"burst", "leave", per(1).With(sluice.FixedWindow).WithBurst(5)},
		{"burst", "higher rate", sluice.PerDay(1).WithBurst(40_000)},
		{"max_wait", "8784h", per(1).WithMaxWait(-1)},
		{"max_wait", "8784h", per(1).WithMaxWait(9000 * time.Hour)},
		{"max_wait", "microseconds", per(1).WithMaxWait(100)},
		{"max_wait", "leave", per(1).With(sluice.SlidingLog).WithMaxWait(second)},
		{"refill", "leave", sluice.Limit{Algorithm: sluice.LeakyBucket, Count: 1, Period: second, Refill: sluice.ByInterval}},
		{"refill", "interval", sluice.Limit{Count: 1, Period: second, Refill: "often"}},
		{"start", "leave", sluice.Limit{Count: 1, Period: second, Start: sluice.FirstHit}},
		{"start", "first_hit", sluice.Limit{Algorithm: sluice.FixedWindow, Count: 1, Period: second, Start: "late"}},
		{"calendar", "leave", sluice.PerMonth(1).With(sluice.TokenBucket)},
		{"calendar", "day", sluice.Limit{Count: 1, Calendar: "decade"}},
		{"zone", "leave", per(1).InZone("UTC")},
		{"zone", "IANA", sluice.PerMonth(1).InZone("Mars/Olympus")},
		{"anchor_day", "leave", per(1).WithAnchorDay(3)},
		{"anchor_day", "leave", sluice.PerDay(1).InZone("UTC").WithAnchorDay(3)},
		{"anchor_day", "1 to 31", sluice.PerMonth(1).WithAnchorDay(32)},
		{"anchor_day", "1 to 31", sluice.PerMonth(1).WithAnchorDay(-1)},
		{"sub_windows", "leave", sluice.Limit{Count: 1, Period: second, SubWindows: 2}},
		{"sub_windows", "use 10", sluice.Limit{Algorithm: sluice.SlidingWindow, Count: 1, Period: second, SubWindows: 7}},
		{"sub_windows", "use 7", sluice.Limit{Algorithm: sluice.SlidingWindow, Count: 1, Period: 7 * time.Microsecond, SubWindows: 3}},
		{"sub_windows", "leave", sluice.Limit{Algorithm: sluice.SlidingWindow, Count: 1, Period: second, SubWindows: 2, Weighted: true}},
		{"weighted", "leave", sluice.Limit{Count: 1, Period: second, Weighted: true}},
		{"max_log", "leave", sluice.Limit{Count: 1, Period: second, MaxLog: 200_000}},
		{"max_log", "100000", sluice.Limit{Algorithm: sluice.SlidingLog, Count: 50, Period: second, MaxLog: 10}},
		{"max_log", "100000", sluice.Limit{Algorithm: sluice.SlidingLog, Count: 50, Period: second, MaxLog: -1}},
		{"warm_up", "leave", sluice.Limit{Count: 1, Period: second, WarmUp: second}},
		{"warm_up", "warm-up period", per(1).With(sluice.WarmUp)},
		{"warm_up", "microseconds", sluice.Limit{Algorithm: sluice.WarmUp, Count: 1, Period: second, WarmUp: 1500}},
		{"warm_up", "cold factor", sluice.Limit{Algorithm: sluice.WarmUp, Count: 1, Period: second, WarmUp: second, ColdFactor: 0.5}},
		{"warm_up", "cold factor", sluice.Limit{Algorithm: sluice.WarmUp, Count: 1, Period: second, WarmUp: second, ColdFactor: math.NaN()}},
		{"cold_factor", "leave", sluice.Limit{Count: 1, Period: second, ColdFactor: 3}},
	} {
		err := c.limit.Validate()
		fault(t, err, c.field)
		var e *sluice.LimitError
		if errors.As(err, &e) && !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%v: hint %q does not say %q", err, e.Hint, c.hint)
		}
		if _, err := c.limit.MarshalText(); err == nil {
			t.Errorf("%v: written as text though it is invalid", c.limit)
		}
		if panics(func() { sluice.NewLimiter(c.limit) }) == nil {
			t.Errorf("%v: NewLimiter did not panic", c.limit)
		}
	}
}

func TestValidateAccepts(t *testing.T) {
	for _, limit := range []sluice.Limit{
		sluice.Per(1, 365*24*time.Hour),
		sluice.Per(1_000_000_000, second),
		sluice.Per(1000, time.Microsecond),
		sluice.PerSecond(100_000).With(sluice.SlidingLog),
		{Algorithm: sluice.SlidingLog, Count: 150_000, Period: second, MaxLog: 150_000},
		sluice.PerSecond(1).WithMaxWait(8784 * time.Hour),
		sluice.PerMonth(0),
		{Algorithm: sluice.WarmUp, Count: 1, Period: second, WarmUp: second, ColdFactor: 1},
	} {
		if err := limit.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestErrorsStayShort: what comes from outside can be long, an error cannot.
func TestErrorsStayShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{
		long, long + " 1/s", long + "/s", "1/" + long, "1" + long, "1/s " + long, "1/s " + long + "=1",
		"1/s burst=" + long, "1/mo zone=" + long, "1/s refill=" + long, "fixed_window 1/s start=" + long,
		"1/s " + long + "=1 " + long + "=1", "sliding_window 1/s weighted=" + long,
	} {
		if _, err := sluice.Parse(text); err == nil || len(err.Error()) > 600 {
			t.Errorf("%.40s: error of %d bytes: %.100v", text, len(err.Error()), err)
		}
	}
	if err := sluice.PerMonth(1).InZone(long).Validate(); len(err.Error()) > 600 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

func TestMustParsePanics(t *testing.T) {
	err, ok := panics(func() { sluice.MustParse("ten per second") }).(error)
	if !ok || !errors.Is(err, sluice.ErrInvalidLimit) {
		t.Errorf("got %v", err)
	}
}
